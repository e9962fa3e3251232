/**
 * {@code idem torture inbox}: a stream of messages through queued consumers, while their processes, their database and
 * their connections are killed, paused and cut.
 *
 * <pre>
 *   this JVM                                              worker JVM (one per slot of the pool)
 *   Plan ─► Broker ─► Lane ── Delivery ──► Slot ───────►  WorkerMain ─► Inbox.acceptAll   (stored, acknowledged)
 *             ▲  ◄──────────── Answer ─────  │                           Inbox.start ─► Handling ─► business tables
 *             │                              └ start, SIGKILL, SIGSTOP, SIGCONT
 *   Mayhem: PostgresServer (SIGKILL, restart), TcpFaultProxy (cuts)
 *   Business ─► Verdict: counts what is in the business tables when all is settled
 * </pre>
 */
@NullMarked
package dev.idem.cli.torture;

import org.jspecify.annotations.NullMarked;
