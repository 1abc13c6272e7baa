import type { StylesheetSource } from '../stylesheet.js'
import { LibxsltRunner } from './runner.js'
import { probeOf, refuseUndeclared, type StylesheetNames } from './stylesheet-names.js'

const LIMITS = { timeoutMs: 5000, maxOutputBytes: 100_000 }

/**
 * Refuses undeclared names in an XSLT 1.0 stylesheet, because libxslt would fail only at run time. Asks libxslt
 * itself which functions it has.
 * @param params parameters that the policy passes, declared or not.
 * @throws Error with the name and its location
 */
export async function refuseUnknownNames(
  modules: readonly StylesheetNames[],
  source: StylesheetSource,
  params: readonly string[],
): Promise<void> {
  const functions = refuseUndeclared(modules, params)
  if (functions.length === 0) return
  const base64 = Buffer.from(probeOf(functions)).toString('base64')
  const main = { url: 'gateway:/functions.xsl', base64, isXml: true }
  const probe = { ...source, main, selection: null, imports: [] }
  const runner = await LibxsltRunner.create({ source: probe, limits: LIMITS })
  try {
    const missing = await runner.run({ body: Buffer.from('<a/>'), params: [] })
    if (!(missing instanceof Uint8Array)) throw new Error(missing.detail)
    if (missing.length === 0) return
    const [first] = Buffer.from(missing).toString('utf8').split('\n')
    throw new Error(`libxslt has no function ${first}`)
  } finally {
    runner.close()
  }
}
