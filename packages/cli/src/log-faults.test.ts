import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { elasticsearchSkip, startElasticsearch } from '@sluice/logger/testing/elasticsearch'
import { kafkaFor, kafkaSkip } from '@sluice/logger/testing/kafka-broker'
import { readTopic } from '@sluice/logger/testing/read-topic'
import { freshDataStream } from '@sluice/logger/testing/shared-elasticsearch'
import { type StoredRecords, storedIn } from './testing/known-records.js'
import { type LogFault, LogTrial, type TrialTarget } from './testing/log-trial.js'
import { type ReceiverMode, RecordReceiver } from './testing/record-receiver.js'
import { fileWith, gw, scratch } from './testing.js'

// The traffic log of the whole gateway when its targets, threads, workers, settings and disks fail or change.

async function runAll(t: TestContext, trial: LogTrial, faults: readonly LogFault[]): Promise<void> {
  for (const fault of faults) await t.test(fault.name, async (t) => t.diagnostic(await trial.run(fault)))
}

/** Returns a target that is a receiver. */
function receivedBy(
  t: TestContext,
  receiver: RecordReceiver,
  sink: 'elasticsearch' | 'webhook' | 'custom',
): TrialTarget {
  const spool = join(scratch(t), 'spool')
  mkdirSync(spool)
  const access = {
    elasticsearch: { nodes: [receiver.url], manage: false },
    webhook: { url: receiver.url },
    custom: { module: fileWith(t, ENDING_OUTPUT, 'target.mjs'), options: { url: receiver.url } },
  }
  return {
    log: { sink, [sink]: { ...access[sink], spool: { dir: spool, minFreeBytes: '0b' } } },
    spool,
    stored: () => storedIn(receiver.lines),
  }
}

/** Makes the receiver fail, and waits until a delivery has failed. */
function failing(receiver: RecordReceiver, mode: ReceiverMode): Pick<LogFault, 'begin' | 'end'> {
  return {
    begin: async ({ watch }) => {
      const { failed } = receiver
      receiver.mode = mode
      await watch.until(() => receiver.failed > failed)
    },
    end: () => receiver.recover(),
  }
}

/** Lets the receiver refuse connections while the trial is disturbed. */
function refusing(
  receiver: RecordReceiver,
  disturb: (trial: LogTrial) => unknown = () => {},
): Pick<LogFault, 'begin' | 'end'> {
  return {
    begin: async (trial) => {
      await receiver.close()
      await disturb(trial)
    },
    end: () => receiver.open(),
  }
}

async function reload(trial: LogTrial, second: RecordReceiver): Promise<void> {
  const { log } = trial.target
  await trial.deploy({ ...log, slowAfter: '2s' })
  const added = {
    id: 'second',
    sink: 'webhook',
    webhook: { url: second.url, spool: { dir: `${trial.target.spool}-2` } },
  }
  await trial.deploy({ ...log, outputs: [added] })
  await trial.watch.until(() => second.lines.length > 0)
  await trial.deploy(log)
}

/** Kills all workers again as soon as new ones are ready. */
async function killTwice(trial: LogTrial): Promise<void> {
  await trial.killWorkers()
  await trial.killWorkers()
}

test('records sent to a server like Elasticsearch', async (t) => {
  const receiver = await RecordReceiver.start(t)
  const second = await RecordReceiver.start(t)
  const trial = await LogTrial.start(t, receivedBy(t, receiver, 'elasticsearch'))
  const restart = async (it: LogTrial): Promise<void> => {
    await it.restart('SIGTERM')
    await it.restart('SIGKILL')
  }
  const kills = true
  await runAll(t, trial, [
    { name: '503', ...failing(receiver, 503) },
    { name: '429', ...failing(receiver, 429) },
    { name: '429 for half of the records', ...failing(receiver, 'half') },
    { name: 'slow responses', ...failing(receiver, 'slow') },
    { name: 'no responses', ...failing(receiver, 'silent') },
    { name: 'lost responses', ...failing(receiver, 'breaks') },
    { name: 'connections refused', ...refusing(receiver) },
    { name: 'settings changed during an outage', ...refusing(receiver, (it) => reload(it, second)) },
    { name: 'workers killed', begin: (it) => it.killWorkers(), kills },
    { name: 'supervisor killed', begin: (it) => it.killSupervisor() },
    { name: 'gateway stopped and killed during an outage', ...refusing(receiver, restart), kills },
    {
      name: 'workers killed twice during an outage',
      ...refusing(receiver, killTwice),
      kills,
    },
  ])
})

/** Module of a custom target that ends its thread if a response says so. */
const ENDING_OUTPUT = `
const ENDS = {
  501: () => process.exit(1),
  502: () => setTimeout(() => { throw new Error('the module fails') }),
  507: () => { for (const all = [];;) all.push(new Array(1e6).fill(1.5)) },
}
export default ({ url }) => ({
  async deliver(shipment) {
    const lines = Array.from({ length: shipment.count }, (_, i) => shipment.jsonOf(i).toString())
    const { status } = await fetch(url, { method: 'POST', body: lines.join('\\n') })
    ENDS[status]?.()
    return status === 200 ? { kind: 'answered', refused: [], again: [] } : { kind: 'failed', reason: 'no' }
  },
  async close() {},
})
`

test('log threads that end', async (t) => {
  const receiver = await RecordReceiver.start(t)
  const trial = await LogTrial.start(t, receivedBy(t, receiver, 'custom'))
  const begin = async (it: LogTrial): Promise<void> => {
    for (const status of [501, 502, 507]) await failing(receiver, status).begin(it)
  }
  const end = () => receiver.recover()
  await runAll(t, trial, [{ name: 'threads ended', begin, end, mayRepeat: true, losses: ['writer_lost'] }])
})

/** Returns a program that runs Node.js with a small disk of its own at a folder, or null without mount namespaces. */
function nodeWithDisk(t: TestContext, dir: string): { readonly node: string } | null {
  const own = (command: string) =>
    `unshare -m sh -c 'mount -t tmpfs -o size=16m none "$0" && exec "$@"' '${dir}' ${command}`
  if (spawnSync('sh', ['-c', own('true')]).status !== 0) return null
  const node = fileWith(t, `#!/bin/sh\nexec ${own(`'${process.execPath}' "$@"`)}\n`, 'node')
  chmodSync(node, 0o755)
  return { node }
}

const NO_DISK = 'no mount namespace for a small disk'
const FILLER = 'filler'

function fillDisk(dir: string): void {
  const isFull = ({ code }: NodeJS.ErrnoException): boolean => code === 'ENOSPC'
  assert.throws(() => writeFileSync(join(dir, FILLER), Buffer.alloc(17 * 1024 ** 2)), isFull)
}

test('records sent to a webhook from a spool on a small disk', async (t) => {
  const receiver = await RecordReceiver.start(t)
  const target = receivedBy(t, receiver, 'webhook')
  const options = nodeWithDisk(t, target.spool!)
  if (options === null) return t.skip(NO_DISK)
  const trial = await LogTrial.start(t, target, options)
  const isReported = () => /records wait in memory: ENOSPC/.test(trial.gateway.logText())
  const fillSpool = async ({ watch, spool }: LogTrial): Promise<void> => {
    fillDisk(spool!)
    await watch.until(({ inMemory }) => isReported() && inMemory > 0)
  }
  const mayRepeat = true
  const faults: readonly LogFault[] = [
    { name: '503', ...failing(receiver, 503) },
    { name: 'no responses', ...failing(receiver, 'silent') },
    {
      name: 'full disk during an outage',
      begin: refusing(receiver, fillSpool).begin,
      end: async ({ spool }) => {
        rmSync(join(spool!, FILLER))
        await receiver.open()
      },
    },
    { name: 'lost responses', ...failing(receiver, 'breaks'), mayRepeat },
    {
      name: 'workers killed twice during an outage',
      ...refusing(receiver, killTwice),
      ...{ mayRepeat, kills: true },
    },
  ]
  await runAll(t, trial, faults)
})

test('records written to files', async (t) => {
  const dir = scratch(t)
  const options = nodeWithDisk(t, dir)
  if (options === null) return t.skip(NO_DISK)
  const disk = (it: LogTrial): string => it.pathOf(dir)
  const stored = (it: LogTrial): StoredRecords => {
    const segments = readdirSync(disk(it)).filter((name) => name.endsWith('.ndjson'))
    return storedIn(segments.flatMap((name) => readFileSync(join(disk(it), name), 'utf8').split('\n')))
  }
  const trial = await LogTrial.start(
    t,
    { log: { sink: 'file', file: { dir } }, spool: null, stored },
    options,
  )
  const faults: readonly LogFault[] = [
    { name: 'settings changed', begin: (it) => it.deploy({ ...it.target.log, slowAfter: '2s' }) },
    {
      name: 'full disk',
      begin: async (it) => {
        fillDisk(disk(it))
        await it.watch.until(({ dropped }) => dropped > 0)
      },
      end: (it) => rmSync(join(disk(it), FILLER)),
      losses: ['disk_full'],
    },
  ]
  await runAll(t, trial, faults)
})

test('records sent to a Kafka broker', { skip: kafkaSkip }, async (t) => {
  const broker = await kafkaFor(t)
  const spool = join(scratch(t), 'spool')
  mkdirSync(spool)
  const trial = await LogTrial.start(t, {
    log: { sink: 'kafka', kafka: { brokers: [broker.plain], topic: 'traffic', spool: { dir: spool } } },
    spool,
    stored: async () =>
      storedIn((await readTopic(broker.plain, 'traffic')).map(({ record }) => JSON.stringify(record))),
  })
  const begin = async (it: LogTrial): Promise<void> => {
    await broker.kill()
    await it.killWorkers()
  }
  const end = () => broker.start()
  await runAll(t, trial, [{ name: 'broker and workers killed', begin, end, mayRepeat: true, kills: true }])
})

/** Page of a search in Elasticsearch. One search returns at most 10,000 records. */
interface Page {
  readonly _scroll_id: string
  readonly hits: { readonly hits: readonly { readonly _source: object }[] }
}

test('records sent to an Elasticsearch node', { skip: elasticsearchSkip }, async (t) => {
  const dir = scratch(t)
  let node = await startElasticsearch({ dir })
  t.after(() => node.stop())
  const stream = freshDataStream()
  const request = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await node.request(method, path, body)
    assert.ok(answer.status < 300, JSON.stringify(answer))
    return answer.body
  }
  const lines = async (): Promise<string[]> => {
    await request('POST', `/${stream}/_refresh`)
    const found: string[] = []
    let page = (await request('POST', `/${stream}/_search?scroll=10m`, { size: 5000 })) as Page
    while (page.hits.hits.length > 0) {
      found.push(...page.hits.hits.map(({ _source }) => JSON.stringify(_source)))
      page = (await request('POST', '/_search/scroll', { scroll: '10m', scroll_id: page._scroll_id })) as Page
    }
    await request('DELETE', '/_search/scroll/_all')
    return found
  }
  const spool = join(scratch(t), 'spool')
  mkdirSync(spool)
  const settings = { nodes: [node.url], dataStream: stream, replicas: 0, spool: { dir: spool } }
  const trial = await LogTrial.start(t, {
    log: { sink: 'elasticsearch', elasticsearch: settings },
    spool,
    stored: async () => storedIn(await lines()),
  })
  /** Makes the mapping refuse all records, whose paths are no numbers. */
  const changeMapping = async (): Promise<void> => {
    await request('PUT', `/_index_template/${stream}-template`, {
      ...{ index_patterns: [stream], data_stream: {}, priority: 500 },
      template: {
        settings: { 'index.number_of_replicas': 0 },
        mappings: { properties: { url: { properties: { path: { type: 'long' } } } } },
      },
    })
    await request('POST', `/${stream}/_rollover`)
  }
  const repairMapping = async (trial: LogTrial): Promise<void> => {
    const { config } = trial.gateway
    const setUp = await gw(['log-setup', '-c', config])
    assert.equal(setUp.code, 0, setUp.stderr)
    const { indexed: before } = await trial.watch.look()
    await trial.watch.until(({ indexed }) => indexed > before)
    const { code, stdout } = await gw(['logs', 'replay-dead', '-c', config])
    assert.equal(code, 0, stdout)
    trial.replayed += Number(/^main: (\d+) delivered, 0 refused again$/m.exec(stdout)?.[1])
  }
  const faults: readonly LogFault[] = [
    { name: 'suspended', begin: () => node.pause(), end: () => node.resume() },
    {
      name: 'mapping conflict, and dead letters delivered again',
      begin: async ({ watch }) => {
        await changeMapping()
        await watch.until(({ dead }) => dead > 0)
      },
      end: repairMapping,
    },
    {
      name: 'killed and started again',
      begin: () => node.kill(),
      end: async () => {
        node = await startElasticsearch({ dir, port: node.port })
      },
    },
  ]
  await runAll(t, trial, faults)
})
