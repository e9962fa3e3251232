package dev.idem.jdbc.library;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** A payment as Hibernate sees it. */
@Entity
@Table(name = "payment")
class Payment {
    @Id
    @Column(name = "order_id")
    private String orderId;

    protected Payment() {}

    Payment(String orderId) {
        this.orderId = orderId;
    }
}
