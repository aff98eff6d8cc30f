// GLib, GIO and libsecret as Swift can import them: what is a macro or takes a variable number of arguments
// there is an inline function here.
#ifndef CSECRET_SHIM_H
#define CSECRET_SHIM_H
// No feature macro: every module of C must see a system header as Swift's own Glibc module does.
// The half of libsecret that speaks in D-Bus paths and values; marked so since 2012 and unchanged since.
#define SECRET_API_SUBJECT_TO_CHANGE
#include <gio/gio.h>
#include <glib.h>
#include <libsecret/secret.h>
#include <stdint.h>

static inline GQuark csecret_file_error(void) { return G_FILE_ERROR; }
static inline GQuark csecret_io_error(void) { return G_IO_ERROR; }
static inline GQuark csecret_dbus_error(void) { return G_DBUS_ERROR; }

static inline GType csecret_service_type(void) { return SECRET_TYPE_SERVICE; }

/// Connects `callback` to the signal "closed" of a bus connection.
static inline gulong csecret_connect_closed(GDBusConnection *connection,
                                            void (*callback)(GDBusConnection *, gboolean, GError *, gpointer),
                                            gpointer data, GClosureNotify destroy) {
  return g_signal_connect_data(connection, "closed", G_CALLBACK(callback), data, destroy, (GConnectFlags)0);
}

static inline void csecret_disconnect(GDBusConnection *connection, gulong handler) {
  g_signal_handler_disconnect(connection, handler);
}

/// Makes the calls of a proxy end after `milliseconds`.
static inline void csecret_limit_calls(SecretService *service, int milliseconds) {
  g_dbus_proxy_set_default_timeout(G_DBUS_PROXY(service), milliseconds);
}

/// The type that `text` spells; a macro in GLib. `text` is a literal and stays.
static inline const GVariantType *csecret_variant_type(const uint8_t *text) {
  return G_VARIANT_TYPE((const char *)text);
}

/// How a client connects to the bus at an address.
static inline GDBusConnectionFlags csecret_bus_client_flags(void) {
  return G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION;
}

/// Where in the list of descriptors the one of an answer `(h)` is.
static inline gint csecret_handle(GVariant *answer) {
  gint32 handle = -1;
  g_variant_get(answer, "(h)", &handle);
  return handle;
}

static inline void csecret_unref(gpointer object) { g_object_unref(object); }
static inline gpointer csecret_ref(gpointer object) { return g_object_ref(object); }

#endif
