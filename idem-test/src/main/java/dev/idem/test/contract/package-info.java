/**
 * What a store must do, as tests. A store's author subclasses {@link dev.idem.test.contract.TransactionalStoreContract},
 * or {@link dev.idem.test.contract.MarkerStoreContract} if handlers cannot write through the store's transaction; and, for what
 * else the store can do, {@link dev.idem.test.contract.QueueStoreContract}, {@link
 * dev.idem.test.contract.StepStoreContract}, {@link dev.idem.test.contract.SequenceStoreContract} and {@link
 * dev.idem.test.contract.ReplayStoreContract}. Adapters of brokers have {@link dev.idem.test.contract.BrokerContract}.
 */
@NullMarked
package dev.idem.test.contract;

import org.jspecify.annotations.NullMarked;
