import type { StylesheetSource } from '../../../catalog/xslt/stylesheet-source.js'
import { LibxsltRunner } from './runner.js'
import { probeOf, refuseUndeclared, type StylesheetNames } from './stylesheet-names.js'

const LIMITS = { timeoutMs: 5000, maxOutputBytes: 100_000 }

/**
 * Refuses names of a stylesheet of XSLT 1.0 that nobody declares: libxslt would fail while requests run. Whether it
 * has a function it says itself.
 * @param params which the policy gives to the stylesheet, whether it declares them or not.
 * @throws Error that says which, and where
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
