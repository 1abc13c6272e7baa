import {
  type CompileEnv,
  type Consumer,
  clientNetwork,
  consumerOf,
  definePolicy,
  type Eventual,
  type Exchange,
  type Outcome,
  parseDuration,
  type Reply,
  readTlsFiles,
  removeHeader,
} from '@sluice/core'
import {
  type BasicRefusals,
  basicRefusals,
  type Credentials,
  parseBasicToken,
  readBasicToken,
} from '../../identity/consumers/basic-credentials.js'
import { FailureWindow } from '../../identity/consumers/failure-window.js'
import type { KeyedDigest } from '../../identity/consumers/keyed-digest.js'
import type { AnswerTier } from '../../shared/call/answer-cache.js'
import { CallCache, type Found } from '../../shared/call/call-cache.js'
import { InvalidEntry } from './connection.js'
import { ConnectionPool, DirectoryBusy } from './connection-pool.js'
import { Directory, type DirectoryUser } from './directory.js'
import { type LdapConfig, ldapSchema } from './schema.js'
import { directoryOptions, serverAddresses } from './settings.js'
import { decodeLogin, encodeLogin, loginDigest, openLoginTier } from './shared-logins.js'

/** Authenticates the consumer by user name and password against an LDAP directory. */
export const ldap = definePolicy({
  name: 'ldap',
  summary:
    'Authenticates callers by user name and password against an LDAP directory, and reads their groups.',
  schema: ldapSchema,
  cost: 'io',
  authenticates: () => 'request',
  compile(config, env) {
    const gate = new Gate(config, env)
    return { name: 'ldap', onRequest: (x) => gate.admit(x) }
  },
})

interface Logins {
  readonly directory: Directory
  /** Cached logins, keyed by a digest of the Basic token. */
  readonly cache: CallCache<Verdict>
  readonly digests: KeyedDigest
  /** Cache shared with other workers, or null if each worker caches for itself. */
  readonly tier: AnswerTier | null
}

/** Result of a login. The consumer is null if the login was refused. */
interface Verdict {
  readonly consumer: Consumer | null
}

/** Thrown if the header does not contain a user name and a password. */
class Malformed extends Error {}

/** Thrown if the client address has too many failed attempts. */
class Throttled extends Error {}

const REFUSED: Verdict = { consumer: null }
/** Maximum size of the login cache, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024
/** Decides about a request. Cached logins need no promise. */
class Gate {
  readonly #logins: Logins
  readonly #ttlMs: number
  readonly #negativeTtlMs: number
  readonly #maxFailures: number
  readonly #stripsCredentials: boolean
  readonly #failures: FailureWindow
  readonly #refusals: BasicRefusals
  readonly #unavailable: Reply
  readonly #report: (event: string, reason: string) => void

  constructor(config: LdapConfig, env: CompileEnv) {
    this.#logins = loginsOf(config, env)
    this.#ttlMs = parseDuration(config.cache?.ttl ?? '60s')
    this.#negativeTtlMs = parseDuration(config.cache?.negativeTtl ?? '10s')
    this.#maxFailures = config.maxFailuresPerMinute ?? Number.POSITIVE_INFINITY
    this.#stripsCredentials = config.stripCredentials ?? true
    const { urls, userDn, userBase, userScope, userFilter } = config
    const users = JSON.stringify([urls, userDn, userBase, userScope, userFilter])
    this.#failures = env.shared(`ldap/failures ${users}`, () => new FailureWindow())
    this.#refusals = basicRefusals(config.realm ?? 'Restricted', env)
    const detail = 'passwords cannot be checked at the moment; try again'
    this.#unavailable = env.refusal('GW_AUTH_UNAVAILABLE', detail, ['retry-after', '1'])
    this.#report = (event, reason) => env.report(event, { urls, reason: reason.slice(0, 200) })
  }

  admit(x: Exchange): Eventual {
    const token = readBasicToken(x, this.#refusals)
    if (typeof token !== 'string') return token
    const { cache, digests } = this.#logins
    const key = digests.of(token)
    const verdict = cache.get(key, () => this.#login(x, token, key))
    if (!(verdict instanceof Promise)) return this.#decide(x, verdict)
    return verdict.then(
      (found) => this.#decide(x, found),
      (error: Error) => this.#failed(error),
    )
  }

  /** True if attempts of the client's address are blocked for now. Cached logins are not affected. */
  #isThrottled(x: Exchange): boolean {
    return this.#failures.count(clientNetwork(x.clientIp), x.startedMono) >= this.#maxFailures
  }

  /** @throws Malformed, Throttled, or an error of the directory. */
  async #login(x: Exchange, token: string, key: string): Promise<Found<Verdict>> {
    // A directory may accept an anonymous bind if the password is empty.
    const credentials = parseBasicToken(token)
    if (credentials === null) throw new Malformed()
    if (this.#isThrottled(x)) throw new Throttled()
    const network = clientNetwork(x.clientIp)
    if (this.#failures.possible(network, x.startedMono) >= this.#maxFailures)
      throw new DirectoryBusy('too many attempts from this address are in progress')
    return this.#failures.during(network, this.#ask(key, credentials))
  }

  /** Asks the other workers and the directory, and rethrows its errors. */
  async #ask(key: string, credentials: Credentials): Promise<Found<Verdict>> {
    const { directory, tier } = this.#logins
    const ask = async () => {
      const user = await directory.login(credentials.name, credentials.password).catch((error: unknown) => {
        if (!(error instanceof InvalidEntry)) throw error
        this.#report('ldap_login_refused', error.message)
        return null
      })
      return { answer: encodeLogin(user), found: this.#found(user) }
    }
    if (tier === null) return (await ask()).found
    return tier.get(key, { ask, read: (answer) => this.#found(decodeLogin(answer)) })
  }

  #found(user: DirectoryUser | null): Found<Verdict> {
    const isNegative = user === null
    return {
      value: isNegative ? REFUSED : { consumer: consumerOf('ldap', user.id, user) },
      ttlMs: isNegative ? this.#negativeTtlMs : this.#ttlMs,
      bytes: isNegative ? 0 : bytesOf(user),
      isNegative,
      isCallerSpecific: false,
    }
  }

  #decide(x: Exchange, { consumer }: Verdict): Outcome {
    if (consumer === null) {
      if (this.#isThrottled(x)) return this.#refusals.throttled
      this.#failures.add(clientNetwork(x.clientIp), x.startedMono)
      return this.#refusals.invalid
    }
    x.identify(consumer)
    if (this.#stripsCredentials) removeHeader(x.headers, 'authorization')
    return null
  }

  #failed(error: Error): Outcome {
    if (error instanceof Malformed) return this.#refusals.invalid
    if (error instanceof Throttled) return this.#refusals.throttled
    if (error instanceof DirectoryBusy) return this.#refusals.overloaded
    this.#report('ldap_down', error.message)
    return this.#unavailable
  }
}

/** Opens the directory with its cache. Uses with the same configuration share them, also across reloads. */
function loginsOf(config: LdapConfig, env: CompileEnv): Logins {
  const { timeouts = {}, pool = {}, cache = {}, tls = {} } = config
  const servers = serverAddresses(config)
  const options = directoryOptions(config)
  const { ca, ...pair } = readTlsFiles(tls)
  const operationMs = parseDuration(timeouts.operation ?? '2s')
  const name = `ldap ${JSON.stringify([config, ca?.toString(), String(pair.cert)])}`
  return env.shared(name, () => ({
    directory: new Directory(
      new ConnectionPool({
        servers,
        max: pool.max ?? 10,
        idleMs: parseDuration(pool.idle ?? '60s'),
        connectMs: parseDuration(timeouts.connect ?? '1s'),
        operationMs,
        tls: {
          ...(ca && { ca }),
          ...pair,
          ...(tls.servername && { servername: tls.servername }),
          minVersion: 'TLSv1.2',
        },
        onFault: ({ url }, { message }) => env.report('ldap_server', { url, reason: message.slice(0, 200) }),
      }),
      options,
    ),
    digests: loginDigest(name, env),
    tier: openLoginTier(config, env),
    cache: new CallCache<Verdict>({
      maxEntries: cache.maxEntries ?? 10_000,
      maxBytes: MAX_BYTES,
      revalidateMs: 0,
      staleMs: parseDuration(cache.staleIfError ?? '0s'),
    }),
  }))
}

/** Estimates the memory of a cached user, in bytes. */
function bytesOf({ id, name, groups, claims }: DirectoryUser): number {
  const texts = [id, name, ...groups, ...[...claims].flat()]
  return texts.reduce((sum, text) => sum + 2 * text.length + 32, 500)
}
