import { type Consumer, consumerOf } from '@sluice/core'
import { dummyHash, type PasswordHash, parsePasswordHash } from './password.js'

/** Whose password is checked: the hash, and a text in which the name and the hash are one key. */
export interface Account {
  readonly key: string
  readonly hash: PasswordHash
  /** Null: there is no such user, and the hash is one that no password matches. */
  readonly consumer: object | null
}

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

/** What a hash costs that nobody has chosen, for tables without users. */
const USUAL_HASH = `$scrypt$ln=15,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** The users of one policy or file, by name. */
export class Users {
  readonly #byName = new Map<string, User>()
  readonly #standIns: User[] = []

  /**
   * The user with this name, else a stand-in whose password costs as much to check as that of some user: always the
   * same one for the same name, so that asking again does not show it either.
   */
  find(name: string): User {
    const user = this.#byName.get(name)
    if (user !== undefined) return user
    if (this.#standIns.length === 0) this.#standIns.push(standIn(parsePasswordHash(USUAL_HASH)))
    return this.#standIns[spread(name) % this.#standIns.length]!
  }

  /**
   * @param password its hash.
   * @throws Error when a name is unusable or repeated, or the password is not a hash.
   */
  add(written: string, password: string, consumer: Consumer): void {
    const name = written.normalize('NFC')
    if (name === '' || /[\u0000-\u001f\u007f:]/.test(name)) {
      throw new Error(
        `user name ${JSON.stringify(written)} cannot be sent; leave out colons and control characters`,
      )
    }
    if (this.#byName.has(name)) throw new Error(`user '${name}' stands twice; keep one`)
    const hash = hashOf(name, password)
    this.#byName.set(name, { key: `${name}:${hash.text}`, hash, consumer })
    if (this.#standIns.length < MAX_STAND_INS) this.#standIns.push(standIn(hash))
  }
}

/** @throws Error when there is none, a name is unusable or repeated, or a password is not a hash. */
export function usersOf(configs: readonly UserConfig[]): Users {
  if (configs.length === 0) throw new Error("'users' is empty; add at least one user")
  const users = new Users()
  for (const { name: written, password, groups = [] } of configs) {
    users.add(written, password, consumerOf('basic-auth', written.normalize('NFC'), { groups }))
  }
  return users
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
