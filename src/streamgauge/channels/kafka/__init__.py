"""Events and results through the topics of a Kafka broker."""
