"""Makes up what a module or a function is called with: values by name and annotation, sizes by solving for them."""
