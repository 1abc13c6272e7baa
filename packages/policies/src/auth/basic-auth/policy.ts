import {
  type CompileEnv,
  clientNetwork,
  definePolicy,
  type Eventual,
  type Exchange,
  type Outcome,
  parseDuration,
  removeHeader,
  type Step,
} from '@sluice/core'
import {
  type BasicRefusals,
  basicRefusals,
  type Credentials,
  parseBasicToken,
  readBasicToken,
} from '../../identity/consumers/basic-credentials.js'
import { openConsumerFile } from '../../identity/consumers/consumer-file.js'
import { FailureWindow } from '../../identity/consumers/failure-window.js'
import { type User, usersOf } from '../../identity/consumers/users.js'
import { type BasicAuthConfig, basicAuthSchema } from './schema.js'
import { PasswordVerifier } from './verifier.js'

/** Authenticates the consumer by user name and password (RFC 7617). */
export const basicAuth = definePolicy({
  name: 'basic-auth',
  summary: 'Authenticates callers by user name and password, checked against scrypt hashes in the document.',
  schema: basicAuthSchema,
  authenticates: () => 'request',
  compile(config, env) {
    const { users, consumers } = config
    if ((users === undefined) === (consumers === undefined))
      throw new Error("write either 'users' or 'consumers'")
    const step = (find: FindUser): Step => {
      const gate = new Gate(config, find, env)
      return { name: 'basic-auth', onRequest: (x) => gate.admit(x) }
    }
    if (users === undefined)
      return openConsumerFile(consumers!.file, env).then((file) =>
        step((name) => file.table!.users.find(name)),
      )
    const known = usersOf(users)
    return step((name) => known.find(name))
  },
})

/** Returns the user with the given name, or a dummy user. */
type FindUser = (name: string) => User

/** Decides about a request. Credentials verified before need no promise. */
class Gate {
  readonly #find: FindUser
  readonly #cacheTtlMs: number
  readonly #maxFailures: number
  readonly #stripsCredentials: boolean
  readonly #verifier: PasswordVerifier
  readonly #failures: FailureWindow
  readonly #refusals: BasicRefusals

  constructor(config: BasicAuthConfig, find: FindUser, env: CompileEnv) {
    this.#find = find
    this.#cacheTtlMs = parseDuration(config.cacheTtl)
    this.#maxFailures = config.maxFailuresPerMinute ?? Number.POSITIVE_INFINITY
    this.#stripsCredentials = config.stripCredentials
    this.#refusals = basicRefusals(config.realm, env)
    this.#verifier = env.shared('basic-auth/verifier', () => new PasswordVerifier())
    const names = config.consumers?.file ?? config.users?.map(({ name }) => name).sort()
    this.#failures = env.shared(`basic-auth/failures ${JSON.stringify(names)}`, () => new FailureWindow())
  }

  admit(x: Exchange): Eventual {
    const token = readBasicToken(x, this.#refusals)
    if (typeof token !== 'string') return token
    const digest = this.#verifier.digestOf(token)
    const name = this.#verifier.nameOf(digest)
    if (name !== undefined) {
      const user = this.#find(name)
      if (this.#verifier.isVerified(user, digest, this.#since(x))) return this.#accept(x, user)
    }
    const credentials = parseBasicToken(token)
    return credentials === null ? this.#refusals.invalid : this.#check(x, credentials, digest)
  }

  /** Returns the monotonic time in milliseconds after which a verification is still valid. */
  #since(x: Exchange): number {
    return x.startedMono - this.#cacheTtlMs
  }

  /** Slow path for credentials that have not been verified recently. */
  #check(x: Exchange, credentials: Credentials, digest: string): Eventual {
    const user = this.#find(credentials.name)
    if (this.#verifier.isVerified(user, digest, this.#since(x))) return this.#accept(x, user)
    const network = clientNetwork(x.clientIp)
    if (this.#failures.count(network, x.startedMono) >= this.#maxFailures) return this.#refusals.throttled
    if (this.#verifier.isRefused(user, digest, x.startedMono)) return this.#reject(x)
    const isGuess = this.#verifier.isNew(user, digest)
    if (isGuess && this.#failures.possible(network, x.startedMono) >= this.#maxFailures)
      return this.#refusals.overloaded
    const verification = this.#verifier.verify(user, credentials, digest, x)
    if (verification === null) return this.#refusals.overloaded
    const decision = verification.then((matches) => {
      if (matches === null) return this.#refusals.overloaded
      return matches ? this.#accept(x, user) : this.#reject(x)
    })
    return isGuess ? this.#failures.during(network, decision) : decision
  }

  #accept(x: Exchange, user: User): Outcome {
    if (user.consumer === null) return this.#reject(x)
    x.identify(user.consumer)
    if (this.#stripsCredentials) removeHeader(x.headers, 'authorization')
    return null
  }

  #reject(x: Exchange): Outcome {
    this.#failures.add(clientNetwork(x.clientIp), x.startedMono)
    return this.#refusals.invalid
  }
}
