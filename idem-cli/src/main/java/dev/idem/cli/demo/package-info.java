/**
 * {@code idem demo}: one stream of payments through two consumers, each in a JVM of its own that is killed again and
 * again.
 *
 * <pre>
 *   this JVM                                     consumer JVM (one per seat)
 *   DemoPlan ─► Broker ─► Lane ── Delivery ───►  ConsumerMain ─► Seat ─► Charges ─► payment
 *                          ▲  ◄── Answer ──────                    ├ IdemSeat: Inbox.accept
 *                          └ ConsumerProcess: start, SIGKILL       └ NaiveSeat: by hand
 *   Ledger: counts what is in payment when all is settled
 * </pre>
 *
 * <p>With {@code --broker} a real one delivers: {@link dev.idem.cli.demo.BrokerLane} only kills and starts, and hears from
 * {@link dev.idem.cli.demo.ListenerMain} how far it is.
 */
@NullMarked
package dev.idem.cli.demo;

import org.jspecify.annotations.NullMarked;
