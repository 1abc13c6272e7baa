import { isIP } from 'node:net'
import type { ConnectionOptions as TlsConnectionOptions } from 'node:tls'
import {
  Connection,
  type Reader,
  saslAuthenticateV2,
  saslHandshakeV1,
  saslPlain,
  saslScramSha,
  type Writer,
} from '@platformatic/kafka'
import { messageOf, readTlsFiles, type TlsFileContents } from '@sluice/core'
import { faultCode, KafkaFault } from './fault.js'
import type { KafkaCredentials, KafkaOptions, KafkaTlsOptions } from './options.js'
import { ForwardReader, limitResponses } from './response-limits.js'

/** Maximum number of SCRAM iterations, which a broker chooses. They take a thread up to a second. */
const MAX_SCRAM_ITERATIONS = 1_000_000

/** A kind of request of the client library, with its version. */
interface Api<Args extends unknown[], Response> {
  readonly api: { readonly key: number; readonly version: number }
  createRequest(...args: Args): Writer
  parseResponse(correlationId: number, key: number, version: number, reader: Reader): Response
}

/** An authenticated connection to a broker. */
export interface BrokerConnection {
  readonly connection: Connection
  /** Time until the broker requires a new login, in milliseconds. Infinity if it does not. */
  readonly lifetimeMs: number
}

/** Opens a connection to a broker and logs in. @throws Error if this fails or takes too long. */
export async function connectTo(address: string, options: KafkaOptions): Promise<BrokerConnection> {
  const { host, port } = parseBroker(address)
  const { clientId, connectTimeoutMs, timeoutMs, sasl, tls } = options
  const connection = new Connection(clientId, {
    connectTimeout: connectTimeoutMs,
    requestTimeout: timeoutMs,
    ...(tls === null ? {} : { tls: tlsOptions(host, tls) }),
  })
  // Requests and `connect` report errors, too. Without a listener, this event would end the process.
  connection.on('error', () => {})
  try {
    const connected = connection.connect(host, port)
    limitResponses(connection.socket)
    await connected
    return {
      connection,
      lifetimeMs: sasl === null ? Number.POSITIVE_INFINITY : await logIn(connection, sasl),
    }
  } catch (error) {
    connection.socket?.destroy()
    throw error
  }
}

/** Sends a request and resolves with its response. */
export function call<Args extends unknown[], Response>(
  connection: Connection,
  { api, createRequest, parseResponse }: Api<Args, Response>,
  isFlexible: boolean,
  ...args: Args
): Promise<Response> {
  return new Promise((resolve, reject) => {
    connection.send<Response>(
      api.key,
      api.version,
      () => createRequest(...args),
      (id, key, version, { buffer }) => parseResponse(id, key, version, new ForwardReader(buffer)),
      isFlexible,
      isFlexible,
      (error, response) => (error === null ? resolve(response!) : reject(error)),
    )
  })
}

function parseBroker(address: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(`kafka://${address}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** Returns TLS options. The files are read each time, so that a renewed certificate needs no restart. */
function tlsOptions(
  host: string,
  { caFile, certFile, keyFile, insecure }: KafkaTlsOptions,
): TlsConnectionOptions {
  return {
    rejectUnauthorized: !insecure,
    minVersion: 'TLSv1.2',
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...tlsFiles({ caFile, certFile, keyFile }),
  }
}

function tlsFiles(names: Parameters<typeof readTlsFiles>[0]): TlsFileContents {
  try {
    return readTlsFiles(names, 'log.kafka.tls')
  } catch (error) {
    throw new KafkaFault(messageOf(error))
  }
}

/**
 * Logs in with SASL. Returns the lifetime of the login in milliseconds. @throws KafkaFault without the
 * broker's text, because a broker could return the password.
 */
async function logIn(
  connection: Connection,
  { mechanism, username, password }: KafkaCredentials,
): Promise<number> {
  try {
    await call(connection, saslHandshakeV1, false, mechanism.toUpperCase())
    const { sessionLifetimeMs } = await new Promise<{ readonly sessionLifetimeMs: bigint }>(
      (resolve, reject) => {
        // The library throws exceptions about malformed responses in the callback of the socket.
        const authenticate = ((target: Connection, bytes: Buffer, done: (...result: unknown[]) => void) =>
          saslAuthenticateV2.api(target, bytes, (...result) => {
            try {
              done(...result)
            } catch (error) {
              reject(error)
            }
          })) as saslAuthenticateV2.SASLAuthenticationAPI
        const login =
          mechanism === 'plain'
            ? saslPlain.authenticate(authenticate, connection, username, password)
            : saslScramSha.authenticate(
                authenticate,
                connection,
                algorithmOf(mechanism),
                username,
                password,
                SCRAM,
              )
        login.then(resolve, reject)
      },
    )
    return sessionLifetimeMs > 0n ? Number(sessionLifetimeMs) : Number.POSITIVE_INFINITY
  } catch (error) {
    throw new KafkaFault(`SASL login failed (${faultCode(error)}); check log.kafka.sasl`)
  }
}

function algorithmOf(mechanism: 'scram-sha-256' | 'scram-sha-512'): saslScramSha.ScramAlgorithm {
  return mechanism === 'scram-sha-256' ? 'SHA-256' : 'SHA-512'
}

const SCRAM: saslScramSha.ScramCryptoModule = {
  ...saslScramSha.defaultCrypto,
  hi: async (definition, password, salt, iterations) => {
    if (iterations > MAX_SCRAM_ITERATIONS)
      throw new KafkaFault(`more than ${MAX_SCRAM_ITERATIONS} iterations`)
    return saslScramSha.defaultCrypto.hi(definition, password, salt, iterations)
  },
}
