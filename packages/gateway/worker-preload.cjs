'use strict'

/**
 * Preloaded by worker processes. When the supervisor is killed, messages to it fail with EPIPE, and `disconnect` follows.
 * Without a listener, Node.js would print a stack trace and end the worker. node:cluster sends the first message before
 * any other code of the worker runs.
 */
require('node:cluster').worker?.on('error', () => {})
