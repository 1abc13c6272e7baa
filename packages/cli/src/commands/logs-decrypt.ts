import { createReadStream, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { LineSplitter, RecordDecryptor } from '@sluice/logger'
import { Failure, reasonOf, unreadable, usageError } from '../output/failure.js'
import { printData, say } from '../output/output.js'
import { countText } from '../output/text.js'

interface DecryptOptions {
  readonly keyFile?: readonly string[]
}

/**
 * Prints records with encrypted values decrypted. Values without a matching key stay encrypted and cause an
 * error.
 */
export async function decrypt({ keyFile }: DecryptOptions, file?: string): Promise<void> {
  const decryptor = new RecordDecryptor(secretsOf(keyFile ?? []))
  const damaged = await printRecords(decryptor, inputOf(file), file)
  if (damaged > 0) say(`skipped ${countText(damaged, 'damaged line')}`)
  const { unopenedKeys } = decryptor
  if (unopenedKeys.length === 0) return
  throw new Failure(`some values are still encrypted: no key has the id ${unopenedKeys.join(', ')}`)
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
    const intact = records.filter((line) => line !== null)
    damaged += records.length - intact.length
    for (const line of intact) printData(`${line}\n`)
  }
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) take(splitter.push(chunk))
  } catch (error) {
    throw new Failure(`cannot read ${file ?? 'stdin'}: ${reasonOf(error)}`)
  }
  const rest = splitter.takeRest()
  if (rest !== null) take([rest])
  return damaged
}

function inputOf(file: string | undefined): Readable {
  return file === undefined || file === '-' ? process.stdin : createReadStream(file)
}

/**
 * Reads the keys. They are not command line options, because other users and the shell history can see those.
 */
function secretsOf(files: readonly string[]): readonly string[] {
  if (files.length > 0) return files.map(secretIn)
  const secret = process.env['GW_LOG_KEY'] ?? ''
  if (secret !== '') return [secret]
  throw usageError('no key given; use --key-file or GW_LOG_KEY')
}

function secretIn(file: string): string {
  let secret: string
  try {
    // Removes the trailing newline, as references to files do.
    secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw unreadable('the key file', file, error)
  }
  if (secret === '') throw new Failure(`the key file ${file} is empty`)
  return secret
}
