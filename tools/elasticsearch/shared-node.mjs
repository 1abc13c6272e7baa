import { createServer } from 'node:http'

const VARIABLE = 'SLUICE_TEST_ELASTICSEARCH'

/**
 * Shares one Elasticsearch node among all test files of this run. It starts with the first request, and each file gets
 * its address and credentials. It ends with this process, or with `stop`.
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

/** Imported only when needed, because it is compiled code. */
async function startNode() {
  const { startElasticsearch } = await import('@sluice/logger/testing/elasticsearch')
  const { scratchDir } = await import('@sluice/logger/testing')
  return startElasticsearch({ dir: scratchDir(), security: true })
}
