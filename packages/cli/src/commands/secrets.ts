import { createInterface } from 'node:readline'
import { hashKey, hashPassword, newKey } from '@sluice/policies'
import { EXIT, Failure } from '../failure.js'
import { print, say } from '../output/output.js'

/** `gw hash-password`: the hash for basic-auth, from a password on stdin. */
export async function hashPasswordCommand(): Promise<number> {
  print(await hashPassword(await secretFromStdin('password')))
  return EXIT.ok
}

/** `gw hash-key`: the digest for api-key, from a key on stdin. */
export async function hashKeyCommand(): Promise<number> {
  print(hashKey(await secretFromStdin('key')))
  return EXIT.ok
}

/** `gw new-key`: a fresh key, shown this once, and its digest for the document. */
export function newKeyCommand(): number {
  const { key, sha256 } = newKey()
  print(`key    ${key}`)
  print(`sha256 ${sha256}`)
  say('give the key to its owner and put the sha256 into the document; the key is not kept anywhere')
  return EXIT.ok
}

/** The first line of stdin, without echo on a terminal: secrets on a command line end up in the shell's history. */
async function secretFromStdin(what: string): Promise<string> {
  const isTerminal = process.stdin.isTTY === true
  if (isTerminal) say(`${what} (not shown): `)
  const lines = createInterface({ input: process.stdin, terminal: isTerminal, historySize: 0 })
  for await (const line of lines) {
    lines.close()
    if (line !== '') return line
    break
  }
  throw new Failure(
    EXIT.usage,
    `no ${what} on stdin; write for example: printf '%s' "$SECRET" | gw hash-${what}`,
  )
}
