"""No system: the senders and the broker alone."""
