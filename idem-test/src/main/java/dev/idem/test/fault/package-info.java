/**
 * Faults on demand, for proving that a handler's effects happen once whatever breaks: at a chosen JDBC call, at a
 * chosen byte on the wire, or with the whole process. Depends on the JDK only and knows nothing of the inbox it is used
 * against.
 *
 * <p>The words: a <b>call</b> is one counted step of JDBC; a <b>fault</b> is what goes wrong at a call; to <b>arm</b>
 * is to choose the call, after which the fault <b>fires</b> at most once; the <b>trace</b> names the calls made; a
 * <b>sweep</b> fires every fault at every call. On the wire a <b>direction</b> is the way bytes flow, to <b>cut</b> is
 * to reset a connection, to <b>stall</b> is to hold its bytes back, and a <b>trap</b> cuts at a byte chosen in advance.
 * A process is <b>killed</b> (no goodbye) or <b>paused</b> (alive, but silent).
 *
 * <ul>
 *   <li>{@link dev.idem.test.fault.FaultyDataSource} and {@link dev.idem.test.fault.NthCallSweep}: JDBC calls
 *   <li>{@link dev.idem.test.fault.TcpFaultProxy}: the network between a client and any server
 *   <li>{@link dev.idem.test.fault.ForkedJvm}: a process to kill or pause
 *   <li>{@link dev.idem.test.fault.SettableClock}: time that moves only when told
 * </ul>
 */
@NullMarked
package dev.idem.test.fault;

import org.jspecify.annotations.NullMarked;
