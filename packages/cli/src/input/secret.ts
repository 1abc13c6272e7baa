import { readFileSync, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { unreadable } from '../output/failure.js'
import { complainText, say } from '../output/output.js'

/** Input for a secret: stdin, which may be a terminal. */
export interface SecretInput extends Readable {
  readonly isTTY?: boolean
  setRawMode?(isRaw: boolean): unknown
}

/** Maximum length of a secret, in characters. */
const MAX_LENGTH = 4096
const ENTER = /[\r\n]/
const INTERRUPT = '\u0003'
const END = '\u0004'
const ERASE = new Set(['\u007f', '\b'])

/**
 * Reads a secret from stdin: one line without echo on a terminal, otherwise everything without the trailing
 * newline. Secrets are never command line arguments, because other users and the shell history can see those.
 * @returns null if the user interrupts
 * @throws RangeError if it is too long
 */
export function readSecret(prompt: string, input: SecretInput = process.stdin): Promise<string | null> {
  return input.isTTY === true && input.setRawMode !== undefined
    ? typedSecret(prompt, input)
    : pipedSecret(input)
}

async function pipedSecret(input: SecretInput): Promise<string> {
  const decoder = new StringDecoder('utf8')
  let text = ''
  for await (const chunk of input as AsyncIterable<Buffer>) {
    text += decoder.write(chunk)
    if (text.length > MAX_LENGTH + 2) throw tooLong()
  }
  const secret = (text + decoder.end()).replace(/\r?\n$/, '')
  if (secret.length > MAX_LENGTH) throw tooLong()
  return secret
}

function typedSecret(prompt: string, input: SecretInput): Promise<string | null> {
  complainText(`${prompt} (not shown): `)
  const line = new TypedLine()
  const decoder = new StringDecoder('utf8')
  input.setRawMode?.(true)
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      input.off('data', take)
      input.off('end', end)
      input.setRawMode?.(false)
      input.pause()
      complainText('\n')
      finish()
    }
    const take = (chunk: Buffer): void => {
      const state = line.type(decoder.write(chunk))
      if (state === 'typing') return
      settle(() => (state === 'too-long' ? reject(tooLong()) : resolve(state === 'done' ? line.text : null)))
    }
    const end = (): void => settle(() => resolve(line.text))
    input.on('data', take)
    input.on('end', end)
    input.resume()
  })
}

/** A line being typed, with support for editing keys. */
class TypedLine {
  text = ''

  type(keys: string): 'typing' | 'done' | 'interrupted' | 'too-long' {
    for (const key of keys) {
      if (ENTER.test(key) || key === END) return 'done'
      if (key === INTERRUPT) return 'interrupted'
      if (ERASE.has(key)) this.text = [...this.text].slice(0, -1).join('')
      else this.text += key
      if (this.text.length > MAX_LENGTH) return 'too-long'
    }
    return 'typing'
  }
}

function tooLong(): RangeError {
  return new RangeError(`the secret is longer than ${MAX_LENGTH} characters`)
}

/** Permission bits of group and others. */
const OTHERS = 0o077

/**
 * Reads a secret from a file and trims whitespace. Warns if other users can access the file.
 * @param what for example `token file`
 * @throws Failure
 */
export function secretInFile(file: string, what: string): string {
  try {
    const { mode } = statSync(file)
    if ((mode & OTHERS) !== 0)
      say(`other users can read or change ${file}; make it private with chmod 600 ${file}`)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw unreadable(`the ${what}`, file, error)
  }
}
