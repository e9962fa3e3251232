/**
 * What a store must do, as tests. A store's author subclasses {@link dev.idem.test.contract.TransactionalStoreContract},
 * or {@link dev.idem.test.contract.MarkerStoreContract} if handlers cannot write through the store's transaction.
 */
@NullMarked
package dev.idem.test.contract;

import org.jspecify.annotations.NullMarked;
