"""What a run gives for a repro: the calls of compile regions with their inputs, the modules' constructors, and the source they need."""
