import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NS } from '../names.js'

const command = process.env['SLUICE_XMLSEC1']

/** Option `skip` of tests against xmlsec1: the reason if it is not installed. */
export const xmlsec1Skip: string | false =
  command === undefined && 'no xmlsec1; use npm test, or npm run services and the variable that it prints'

/** Id attributes of SOAP messages, which xmlsec1 must be told. */
const IDS = [`${NS.soap11}:Body`, `${NS.soap12}:Body`, `${NS.wsu}:Timestamp`, `${NS.wsse}:UsernameToken`]

/** Result of xmlsec1: its output, and its verdict on a signature. */
export interface Xmlsec1Run {
  readonly isRight: boolean
  readonly output: string
  readonly complaints: string
}

/**
 * Runs xmlsec1 on documents.
 * @param args `{name}` stands for the path of the document of that name; the main one is `main`.
 */
export function xmlsec1(args: readonly string[], documents: Readonly<Record<string, string>>): Xmlsec1Run {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-xmlsec1-'))
  try {
    for (const [name, text] of Object.entries(documents)) writeFileSync(join(folder, name), text)
    const paths = args.map((arg) => arg.replaceAll(/\{(\w+)\}/g, (_, name: string) => join(folder, name)))
    const ids = IDS.flatMap((id) => ['--id-attr:Id', id])
    const [action, ...options] = paths
    const file = join(folder, 'main')
    const { status, stdout, stderr } = spawnSync(command ?? 'xmlsec1', [action!, ...ids, ...options, file], {
      encoding: 'utf8',
    })
    return { isRight: status === 0, output: stdout, complaints: stderr }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
