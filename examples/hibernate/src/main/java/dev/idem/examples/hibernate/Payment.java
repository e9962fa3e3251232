package dev.idem.examples.hibernate;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;

/** A payment; nothing in it knows of Idem. */
@Entity
class Payment {
    @Id
    @GeneratedValue
    private Long id;

    private String orderId;
    private int cents;

    /** For Hibernate. */
    protected Payment() {}

    Payment(String orderId, int cents) {
        this.orderId = orderId;
        this.cents = cents;
    }

    String orderId() {
        return orderId;
    }

    int cents() {
        return cents;
    }
}
