package dev.idem.jms;

import dev.idem.StoreException;
import dev.idem.TerminalException;
import jakarta.jms.IllegalStateException;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.MessageFormatException;
import jakarta.jms.MessageNotWriteableException;

/** About whom a provider speaks when it refuses what is published. Of many failures only it could tell, and it does not. */
final class Refusal {
    private Refusal() {}

    static StoreException whileConnecting(Exception failure) {
        return new StoreException("The broker cannot be reached: " + failure.getMessage(), failure);
    }

    /** Nothing was sent yet, so it is no message's fault. */
    static StoreException ofTheDestination(Exception failure) {
        return new StoreException(
                "The broker has no such destination, or this user may not send to it: " + failure.getMessage()
                        + ". Create it, name another one, or grant the right; messages wait until then",
                failure);
    }

    /**
     * A message that cannot be written is to blame itself.
     *
     * @return the provider's own exception where it may be a message or the broker
     * @throws StoreException when it is the broker
     */
    static JMSException whileSending(Exception failure) {
        if (failure instanceof MessageFormatException || failure instanceof MessageNotWriteableException) {
            throw new TerminalException("The provider cannot write the message: " + failure.getMessage(), failure);
        }
        if (failure instanceof InvalidDestinationException || failure instanceof JMSSecurityException) {
            throw ofTheDestination(failure);
        }
        if (failure instanceof IllegalStateException || !(failure instanceof JMSException unclear)) {
            throw new StoreException("The session is closed: " + failure.getMessage(), failure);
        }
        return unclear;
    }
}
