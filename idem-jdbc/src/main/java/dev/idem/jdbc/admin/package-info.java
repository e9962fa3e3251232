/**
 * For operators and tools: looks at stored messages, consumers, replays and the audit, and acts on them in the name of a
 * person.
 */
@NullMarked
package dev.idem.jdbc.admin;

import org.jspecify.annotations.NullMarked;
