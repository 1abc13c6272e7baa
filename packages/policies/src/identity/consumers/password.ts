import { createHmac, randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

/** A parsed scrypt hash. */
export interface PasswordHash {
  /** Text of the hash in PHC format. */
  readonly text: string
  /** Cost as a power of two, block size and parallelism (RFC 7914). */
  readonly logCost: number
  readonly blockSize: number
  readonly parallelism: number
  readonly salt: Buffer
  readonly key: Buffer
}

/** Cost of new hashes: 32 MiB and about 60 ms on a current core, acceptable for a login per minute. */
const DEFAULT_COST = { logCost: 15, blockSize: 8, parallelism: 1 }
/**
 * Maximum memory of a configured hash, so that it cannot exhaust a worker. The strongest widely recommended setting
 * fits exactly.
 */
const MAX_MEMORY_BYTES = 128 * 1024 * 1024
const MAX_WORK = 2 ** 21
const SALT_BYTES = 16
const KEY_BYTES = 32

/**
 * Hashes a password for a configuration: `$scrypt$ln=15,r=8,p=1$SALT$HASH`, with a new salt, base64 without padding.
 * @throws RangeError if the password is empty or has control characters, which no client can send.
 */
export async function hashPassword(password: string): Promise<string> {
  if (password === '' || /[\u0000-\u001f\u007f]/.test(password))
    throw new RangeError('the password is empty or has control characters; use visible characters')
  const salt = randomBytes(SALT_BYTES)
  const key = await derive(password, { ...DEFAULT_COST, salt }, KEY_BYTES)
  return formatPasswordHash({ ...DEFAULT_COST, salt, key })
}

/**
 * Returns true if the password matches the hash. Runs in the thread pool and compares in constant time.
 * @throws RangeError if the text is not a hash in the format of hashPassword.
 */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  return matchesHash(password, parsePasswordHash(hash))
}

/** Like verifyPassword, for a parsed hash. */
export async function matchesHash(password: string, hash: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await derive(password, hash, hash.key.length), hash.key)
}

/**
 * Parses a hash in the PHC string format. Messages never quote the text, because it may be a password.
 * @throws RangeError if it is not a hash, or requires too much memory or time.
 */
export function parsePasswordHash(text: string): PasswordHash {
  const match = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(
    text,
  )
  if (match === null) throw new RangeError("is not a scrypt hash; use the output of 'gw hash-password'")
  const [logCost, blockSize, parallelism] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const salt = Buffer.from(match[4]!, 'base64')
  const key = Buffer.from(match[5]!, 'base64')
  if (!isWithinLimits(logCost, blockSize, parallelism))
    throw new RangeError(
      "has scrypt parameters outside of the limits; use those of 'gw hash-password', ln=15,r=8,p=1",
    )
  if (salt.length < 8 || salt.length > 64 || key.length < 16 || key.length > 64)
    throw new RangeError("has a salt or hash of an unusual length; use the output of 'gw hash-password'")
  return { text, logCost, blockSize, parallelism, salt, key }
}

/** Random seed of the dummy hashes: they cannot be guessed but stay the same while the process runs. */
const dummySeed = randomBytes(64)

/**
 * Returns a hash with the same cost that no password matches, for users who do not exist. The same model always gives
 * the same dummy, even after a reload, so that cached results of both live equally long.
 */
export function dummyHash(model: PasswordHash): PasswordHash {
  const bytes = (label: string) => createHmac('sha512', dummySeed).update(label).update(model.text).digest()
  const salt = bytes('salt').subarray(0, model.salt.length)
  const parts = { ...model, salt, key: bytes('key').subarray(0, model.key.length) }
  return { ...parts, text: formatPasswordHash(parts) }
}

function formatPasswordHash(hash: Omit<PasswordHash, 'text'>): string {
  const cost = `ln=${hash.logCost},r=${hash.blockSize},p=${hash.parallelism}`
  return `$scrypt$${cost}$${unpadded(hash.salt)}$${unpadded(hash.key)}`
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

function isWithinLimits(logCost: number, blockSize: number, parallelism: number): boolean {
  if (logCost < 10 || blockSize < 1 || parallelism < 1) return false
  const work = 2 ** logCost * blockSize
  return work * 128 <= MAX_MEMORY_BYTES && work * parallelism <= MAX_WORK
}

/**
 * Derives the key. NFC makes a password independent of the system on which it was typed (RFC 7617 section 2.1, RFC
 * 8265).
 */
function derive(password: string, hash: Omit<PasswordHash, 'text' | 'key'>, bytes: number): Promise<Buffer> {
  const options: ScryptOptions = {
    N: 2 ** hash.logCost,
    r: hash.blockSize,
    p: hash.parallelism,
    maxmem: 2 * MAX_MEMORY_BYTES,
  }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), hash.salt, bytes, options, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}
