import { type Consumer, consumerOf } from '@sluice/core'
import { dummyHash, type PasswordHash, parsePasswordHash } from './password.js'
import type { Account } from './verifier.js'

/** A user of the configuration, or a stand-in for one who does not exist: then there is no consumer. */
export interface User extends Account {
  readonly consumer: Consumer | null
}

/** One entry of `users` in the configuration. */
interface UserConfig {
  readonly name: string
  readonly password: string
  readonly groups?: readonly string[]
}

/** Enough to show every cost that the users have in about their proportion. */
const MAX_STAND_INS = 64

/** The users of one policy, by name. */
export class Users {
  readonly #byName = new Map<string, User>()
  readonly #standIns: readonly User[]

  /** @throws Error when a name is unusable or repeated, or a password is not a hash. */
  constructor(configs: readonly UserConfig[]) {
    for (const config of configs) this.#add(config)
    if (this.#byName.size === 0) throw new Error("'users' is empty; add at least one user")
    this.#standIns = [...this.#byName.values()].slice(0, MAX_STAND_INS).map((user) => standIn(user.hash))
  }

  /**
   * The user with this name, else a stand-in whose password costs as much to check as that of some user: always the
   * same one for the same name, so that asking again does not show it either.
   */
  find(name: string): User {
    return this.#byName.get(name) ?? this.#standIns[spread(name) % this.#standIns.length]!
  }

  #add(config: UserConfig): void {
    const name = config.name.normalize('NFC')
    if (name === '' || /[\u0000-\u001f\u007f:]/.test(name)) {
      throw new Error(
        `user name ${JSON.stringify(config.name)} cannot be sent; leave out colons and control characters`,
      )
    }
    if (this.#byName.has(name)) throw new Error(`user '${name}' stands twice under 'users'; keep one`)
    const hash = hashOf(name, config.password)
    const consumer = consumerOf('basic-auth', name, { groups: config.groups ?? [] })
    this.#byName.set(name, { key: `${name}:${hash.text}`, hash, consumer })
  }
}

function hashOf(name: string, password: string): PasswordHash {
  if (!password.startsWith('$')) {
    throw new Error(
      `the password of user '${name}' is plain text; hash it with 'gw hash-password' and write the hash`,
    )
  }
  try {
    return parsePasswordHash(password)
  } catch (cause) {
    throw new Error(`the password of user '${name}' ${cause instanceof Error ? cause.message : ''}`, {
      cause,
    })
  }
}

function standIn(model: PasswordHash): User {
  const hash = dummyHash(model)
  return { key: hash.text, hash, consumer: null }
}

/** A number from a name, evenly enough for choosing a stand-in. */
function spread(name: string): number {
  let sum = 0
  for (let i = 0; i < name.length; i++) sum = (sum * 31 + name.charCodeAt(i)) >>> 0
  return sum
}
