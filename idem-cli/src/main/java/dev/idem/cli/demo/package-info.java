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
 */
@NullMarked
package dev.idem.cli.demo;

import org.jspecify.annotations.NullMarked;
