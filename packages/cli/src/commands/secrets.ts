import { hashKey, hashPassword, newKey } from '@sluice/policies'
import type { OutputOptions } from '../input/options.js'
import { readSecret } from '../input/secret.js'
import { Failure, messageOf, usageError } from '../output/failure.js'
import { print, printResult, say } from '../output/output.js'

/** Prints the hash of a password, for basic-auth. */
export async function printPasswordHash({ output }: OutputOptions): Promise<void> {
  const password = await secret('password')
  if (process.stdin.isTTY && (await secret('password', 'repeat the password')) !== password)
    throw new Failure('the passwords differ; try again')
  try {
    const hash = await hashPassword(password)
    await printResult({ hash }, output, () => print(hash))
  } catch (error) {
    throw error instanceof RangeError ? new Failure(error.message) : error
  }
}

/** Prints the digest of a key, for api-key and for tokens of the admin API. */
export async function printKeyHash({ output }: OutputOptions): Promise<void> {
  const sha256 = hashKey(await secret('key'))
  await printResult({ sha256 }, output, () => print(sha256))
}

/** Prints a new key and its digest. The key is shown only once. */
export async function printNewKey({ output }: OutputOptions): Promise<void> {
  const { key, sha256 } = newKey()
  await printResult({ key, sha256 }, output, () => print(`key    ${key}`, `sha256 ${sha256}`))
  say('give the key to its owner and add the sha256 to the document; the key is not stored anywhere')
}

async function secret(what: string, prompt = what): Promise<string> {
  const text = await readSecret(prompt).catch((error: unknown) => {
    throw new Failure(messageOf(error))
  })
  if (text === null) throw new Failure('interrupted')
  if (text === '') throw usageError(`no ${what} on stdin; type it, or redirect a file`)
  if (/[\r\n]/.test(text)) throw usageError(`more than one line on standard input; pass only the ${what}`)
  return text
}
