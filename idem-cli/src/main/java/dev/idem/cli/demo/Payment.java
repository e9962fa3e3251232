package dev.idem.cli.demo;

/** What a message asks for: one charge for one order. Its id is the message's id, the same in every copy. */
record Payment(String id, String order, long cents) {}
