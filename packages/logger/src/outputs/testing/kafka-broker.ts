import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { closedPort } from '@sluice/core/testing'
import { makeCertificates } from '../../testing/make-certificates.js'
import { scratchDir } from '../../testing.js'

const home = process.env['SLUICE_KAFKA_HOME']
/** Start timeout in milliseconds. A start takes 3 s on an idle machine. */
const START_MS = 300_000
const JAVA = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto', '-Xmx192m']
const CLUSTER = 'U2x1aWNlVGVzdENsdXN0ZQ'

/** Option `skip` of tests with a broker: the reason if Kafka is not installed, otherwise false. */
export const kafkaSkip: string | false =
  home === undefined && 'no Kafka; use npm test, or npm run services and the variable that it prints'

/** User of the broker. */
export const KAFKA_USER = { username: 'gateway', password: 'right-word' } as const

/** A single-node cluster on the loopback address. Topics have one partition and batches of up to 100 KB. */
export interface KafkaBroker {
  /** Addresses of the listeners without encryption, with SASL, and with TLS and client certificates. */
  readonly plain: string
  readonly sasl: string
  readonly tls: string
  /** Folder with `ca.pem`, `node.pem` and `node.key`. */
  readonly certificates: string
  start(): Promise<void>
  /** Kills the broker like a power failure. `start` continues with the same data. */
  kill(): Promise<void>
}

/** Starts a broker. It is killed after the test. */
export async function kafkaFor(t: TestContext): Promise<KafkaBroker> {
  const dir = scratchDir()
  const [plain, sasl, tls, controller] = [
    await closedPort(),
    await closedPort(),
    await closedPort(),
    await closedPort(),
  ]
  makeCertificates(dir)
  writeFileSync(
    join(dir, 'keys.pem'),
    ['node.key', 'node.pem'].map((file) => readFileSync(join(dir, file))).join(''),
  )
  const config = join(dir, 'server.properties')
  writeFileSync(config, properties(dir, { plain: plain!, sasl: sasl!, tls: tls!, controller: controller! }))
  const scram = ['256', '512'].flatMap((bits) => [
    '--add-scram',
    `SCRAM-SHA-${bits}=[name=${KAFKA_USER.username},password=${KAFKA_USER.password}]`,
  ])
  const format = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER, '-c', config, '--standalone', ...scram]
  const { status, stderr } = spawnSync('java', [...JAVA, '-cp', join(home!, '*'), ...format], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`Kafka cannot format its folder:\n${stderr}`)
  let server: ChildProcess | null = null
  const broker: KafkaBroker = {
    plain: `127.0.0.1:${plain}`,
    sasl: `127.0.0.1:${sasl}`,
    tls: `127.0.0.1:${tls}`,
    certificates: dir,
    start: async () => {
      server = spawn('java', [...JAVA, '-cp', join(home!, '*'), 'kafka.Kafka', config], { stdio: 'ignore' })
      process.once('exit', () => server?.kill('SIGKILL'))
      await opened(server, sasl!)
    },
    kill: async () => {
      if (server === null || server.exitCode !== null || server.signalCode !== null) return
      server.kill('SIGKILL')
      await once(server, 'exit')
    },
  }
  t.after(() => broker.kill())
  await broker.start()
  return broker
}

async function opened(server: ChildProcess, port: number): Promise<void> {
  const endMono = performance.now() + START_MS
  while (performance.now() < endMono && server.exitCode === null) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await sleep(100)
  }
  throw new Error(`Kafka did not open port ${port}`)
}

function properties(
  dir: string,
  ports: Readonly<Record<'plain' | 'sasl' | 'tls' | 'controller', number>>,
): string {
  const listeners = `PLAIN://127.0.0.1:${ports.plain},LOGIN://127.0.0.1:${ports.sasl},TLS://127.0.0.1:${ports.tls}`
  const security = 'org.apache.kafka.common.security'
  const { username, password } = KAFKA_USER
  return `process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:${ports.controller}
listeners=${listeners},CONTROLLER://127.0.0.1:${ports.controller}
advertised.listeners=${listeners}
listener.security.protocol.map=PLAIN:PLAINTEXT,LOGIN:SASL_PLAINTEXT,TLS:SSL,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAIN
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.login.plain.sasl.jaas.config=${security}.plain.PlainLoginModule required user_${username}="${password}";
listener.name.login.scram-sha-256.sasl.jaas.config=${security}.scram.ScramLoginModule required;
listener.name.login.scram-sha-512.sasl.jaas.config=${security}.scram.ScramLoginModule required;
ssl.keystore.type=PEM
ssl.keystore.location=${join(dir, 'keys.pem')}
ssl.truststore.type=PEM
ssl.truststore.location=${join(dir, 'ca.pem')}
ssl.client.auth=required
log.dirs=${join(dir, 'data')}
num.partitions=1
message.max.bytes=100000
offsets.topic.replication.factor=1
log.cleaner.enable=false
group.initial.rebalance.delay.ms=0
`
}
