/** {@code idem consumer}: shows and renames the consumers a store knows. */
@NullMarked
package dev.idem.cli.consumer;

import org.jspecify.annotations.NullMarked;
