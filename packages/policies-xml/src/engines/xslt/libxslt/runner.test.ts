import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStylesheet } from '../../../transform/xslt/stylesheet-source.js'
import { stylesheet, template } from '../../../transform/xslt/testing/stylesheets.js'
import { LibxsltRunner } from './runner.js'

const ENDLESS = stylesheet(
  `${template('<xsl:call-template name="t"/>')}<xsl:template name="t"><xsl:call-template name="t"/></xsl:template>`,
)

test('a runner that was closed while it had no engine answers and makes no new one', async () => {
  const { source } = await readStylesheet({ stylesheet: { inline: ENDLESS } })
  const runner = await LibxsltRunner.create({ source, limits: { timeoutMs: 100, maxOutputBytes: 1000 } })
  const input = { body: Buffer.from('<a/>'), params: [] }
  await runner.run(input)
  // The first transformation may have broken the engine, so the second waits for a new one.
  const pending = runner.run(input)
  runner.close()
  for (const result of [await pending, await runner.run(input)]) {
    assert.ok(!(result instanceof Uint8Array) && result.kind === 'failed')
  }
})
