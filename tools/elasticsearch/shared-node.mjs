import { createServer } from 'node:http'

const VARIABLE = 'SLUICE_TEST_ELASTICSEARCH'

/**
 * Offers one node of Elasticsearch to all test files that this process starts: it is started when the first one asks,
 * and each learns where it is and who may use it. It ends with this process, or by `stop` before.
 */
export class SharedNode {
  #node = null
  #server = createServer((_, res) => {
    this.#node ??= startNode()
    this.#node.then(
      ({ port, username, password, caFile }) =>
        res.end(JSON.stringify({ port, access: { username, password, caFile } })),
      (error) => res.end(JSON.stringify({ problem: error.message })),
    )
  })

  async offer() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    process.env[VARIABLE] = `http://127.0.0.1:${this.#server.address().port}`
  }

  async stop() {
    this.#server.close()
    const node = await this.#node?.catch(() => null)
    await node?.stop()
  }
}

/** Compiled code, and nothing that a run without Elasticsearch needs. */
async function startNode() {
  const { startElasticsearch } = await import('@sluice/logger/testing/elasticsearch')
  const { scratchDir } = await import('@sluice/logger/testing')
  return startElasticsearch({ dir: scratchDir(), security: true })
}
