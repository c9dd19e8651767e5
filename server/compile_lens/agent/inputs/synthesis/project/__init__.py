"""What a project shows of the use of its classes: calls, factories, configurations, heirs."""
