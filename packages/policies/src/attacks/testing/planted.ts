import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

/** Secrets and traces that an engine could reach outside of its documents. */
export interface Planted {
  /** Secret in the files, the environment and the responses of the server. */
  readonly secret: string
  /** `secret.txt`, `secret.xml`, `secret.xsd`, `secret.xsl` and `secret.dtd`. */
  readonly folder: string
  /** Base address of the server. */
  readonly origin: string
  /** Number of requests that the server received. */
  requests(): number
}

/** Plants them for the tests of a file. */
export async function plant(): Promise<Planted> {
  const secret = 'hunter2-planted'
  const folder = mkdtempSync(join(tmpdir(), 'attacks-'))
  for (const [name, text] of Object.entries(filesWith(secret))) writeFileSync(join(folder, name), text)
  process.env['SLUICE_PLANTED'] = secret
  let requests = 0
  const server = createServer((_req, res) => {
    requests++
    res.end(`<s>${secret}</s>`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  const { port } = server.address() as AddressInfo
  return { secret, folder, origin: `http://127.0.0.1:${port}`, requests: () => requests }
}

function filesWith(secret: string): Record<string, string> {
  return {
    'secret.txt': secret,
    'secret.xml': `<s>${secret}</s>`,
    'secret.xsd': '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a"/></xs:schema>',
    'secret.xsl': `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">${secret}</xsl:template></xsl:stylesheet>`,
    'secret.dtd': `<!ENTITY x "${secret}">`,
  }
}
