import { type Consumer, consumerOf } from '@sluice/core'
import { dummyHash, type PasswordHash, parsePasswordHash } from './password.js'

/** A password hash to check, and a cache key of the name and the hash. */
export interface Account {
  readonly key: string
  readonly hash: PasswordHash
  /** Owner of the account, or null for a dummy hash that no password matches. */
  readonly consumer: object | null
}

/** A configured user, or a stand-in without a consumer for a user who does not exist. */
export interface User extends Account {
  readonly consumer: Consumer | null
}

/** An entry of `users` in the configuration. */
interface UserConfig {
  readonly name: string
  readonly password: string
  readonly groups?: readonly string[]
}

/** Maximum number of stand-ins, enough to cover the costs of all users in proportion. */
const MAX_STAND_INS = 64

/** Hash with the default cost, for tables without users. */
const USUAL_HASH = `$scrypt$ln=15,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Users of one policy or file, by name. */
export class Users {
  readonly #byName = new Map<string, User>()
  readonly #standIns: User[] = []

  /**
   * Returns the user with this name, or a stand-in whose password takes as long to check as a real user's. A name
   * always gets the same stand-in, so repeated attempts do not reveal that the user does not exist.
   */
  find(name: string): User {
    const user = this.#byName.get(name)
    if (user !== undefined) return user
    if (this.#standIns.length === 0) this.#standIns.push(standIn(parsePasswordHash(USUAL_HASH)))
    return this.#standIns[spread(name) % this.#standIns.length]!
  }

  /**
   * Adds a user.
   * @param password hash of the password.
   * @throws Error for an unusable or duplicate name, or an invalid password hash.
   */
  add(written: string, password: string, consumer: Consumer): void {
    const name = written.normalize('NFC')
    if (name === '' || /[\u0000-\u001f\u007f:]/.test(name))
      throw new Error(
        `user name ${JSON.stringify(written)} cannot be used; remove colons and control characters`,
      )
    if (this.#byName.has(name)) throw new Error(`duplicate user '${name}'`)
    const hash = hashOf(name, password)
    this.#byName.set(name, { key: `${name}:${hash.text}`, hash, consumer })
    if (this.#standIns.length < MAX_STAND_INS) this.#standIns.push(standIn(hash))
  }
}

/** Creates the users of a configuration. @throws Error if there are none, or one is invalid. */
export function usersOf(configs: readonly UserConfig[]): Users {
  if (configs.length === 0) throw new Error("'users' is empty; add at least one user")
  const users = new Users()
  for (const { name: written, password, groups = [] } of configs)
    users.add(written, password, consumerOf('basic-auth', written.normalize('NFC'), { groups }))
  return users
}

function hashOf(name: string, password: string): PasswordHash {
  if (!password.startsWith('$'))
    throw new Error(
      `the password of user '${name}' is plain text; replace it with the output of 'gw hash-password'`,
    )
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

/** Hashes a name to a number, evenly enough to choose a stand-in. */
function spread(name: string): number {
  let sum = 0
  for (let i = 0; i < name.length; i++) sum = (sum * 31 + name.charCodeAt(i)) >>> 0
  return sum
}
