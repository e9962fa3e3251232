/**
 * {@code idem torture}: a stream of messages through consumers, while their processes, their servers and their connections
 * are killed, paused and cut. Of the durable inbox:
 *
 * <pre>
 *   this JVM                                              worker JVM (one per slot of the pool)
 *   Plan ─► Broker ─► Lane ── Delivery ──► Slot ───────►  WorkerMain ─► Inbox.acceptAll   (stored, acknowledged)
 *             ▲  ◄──────────── Answer ─────  │                           Inbox.start ─► Handling ─► business tables
 *             │                              └ start, SIGKILL, SIGSTOP, SIGCONT
 *   Mayhem: PostgresServer (SIGKILL, restart), TcpFaultProxy (cuts)
 *   Business ─► Verdict: counts what is in the business tables when all is settled
 * </pre>
 *
 * <p>Of the listeners of Kafka and RabbitMQ, with the same slots, mayhem and checker:
 *
 * <pre>
 *   Plan ─► Publisher ─► BrokerServer (SIGKILL, restart) ─► ConsumerMain ─► listener ─► Handling ─► business tables
 * </pre>
 */
@NullMarked
package dev.idem.torture;

import org.jspecify.annotations.NullMarked;
