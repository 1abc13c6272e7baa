import { createReadStream, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { LineSplitter, RecordDecryptor } from '@sluice/logger'
import { EXIT, Failure, messageOf, unreadable } from '../failure.js'
import { printText, say } from '../output/output.js'
import { countText } from '../output/text.js'

interface DecryptOptions {
  readonly keyFile?: readonly string[]
}

/** Prints records with what privacy rules have encrypted in them; what no key opens stays as it is, and is an error. */
export async function decrypt({ keyFile }: DecryptOptions, file?: string): Promise<number> {
  const decryptor = new RecordDecryptor(secretsOf(keyFile ?? []))
  const damaged = await printRecords(decryptor, inputOf(file), file)
  if (damaged > 0) say(`${countText(damaged, 'damaged line')} left out`)
  const { unopenedKeys } = decryptor
  if (unopenedKeys.length === 0) return EXIT.ok
  throw new Failure(
    EXIT.failed,
    `some values stay encrypted: none of the keys is the one with the id ${unopenedKeys.join(', ')}`,
  )
}

async function printRecords(
  decryptor: RecordDecryptor,
  input: Readable,
  file: string | undefined,
): Promise<number> {
  const splitter = new LineSplitter()
  let damaged = 0
  const take = (lines: readonly string[]): void => {
    const records = lines.filter((line) => line !== '').map((line) => decryptor.line(line))
    const sound = records.filter((line) => line !== null)
    damaged += records.length - sound.length
    for (const line of sound) printText(`${line}\n`)
  }
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) take(splitter.push(chunk))
  } catch (error) {
    throw new Failure(EXIT.failed, `cannot read ${file ?? 'stdin'}: ${messageOf(error)}`)
  }
  const rest = splitter.takeRest()
  if (rest !== null) take([rest])
  return damaged
}

function inputOf(file: string | undefined): Readable {
  return file === undefined || file === '-' ? process.stdin : createReadStream(file)
}

/** Keys are never taken from the command line, which other users of the machine and the history of the shell can see. */
function secretsOf(files: readonly string[]): readonly string[] {
  if (files.length > 0) return files.map(secretIn)
  const secret = process.env['GW_LOG_KEY'] ?? ''
  if (secret !== '') return [secret]
  throw new Failure(
    EXIT.usage,
    'there is no key to decrypt with; name its file with --key-file, or set GW_LOG_KEY',
  )
}

function secretIn(file: string): string {
  let secret: string
  try {
    // As references to files are read: the newline at the end belongs to the file, not to the secret.
    secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw unreadable('the key file', file, error)
  }
  if (secret === '') throw new Failure(EXIT.failed, `the key file ${file} is empty`)
  return secret
}
