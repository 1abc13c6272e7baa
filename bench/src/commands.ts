import { collect, type GwCommand, InvalidArgumentError, wholeNumber } from '@sluice/cli/program'
import { ENGINES } from './model/engine.js'
import { PEERS } from './model/run.js'
import { METHODS, TIERS } from './model/scenario.js'

const MAX_CONNECTIONS = 100_000
const MAX_SECONDS = 86_400
const MAX_RATE = 100_000_000
/** Maximum process id of 64-bit Linux. */
const MAX_PID = 4_194_304
const TIER_NAMES = TIERS.map(({ tier }) => tier)

/** Adds the commands of `gw bench`. Their code is loaded when they run. */
export function addCommands(bench: GwCommand): void {
  addRun(bench)
  addQuick(bench)
  addPolicy(bench)
  addList(bench)
  addCompare(bench)
  addReport(bench)
  addCapacity(bench)
  addUpstream(bench)
  addLoadgen(bench)
  addSink(bench)
  addAgent(bench)
  addDoctor(bench)
}

function addRun(bench: GwCommand): void {
  bench
    .command('run')
    .description('run a suite and write its reports')
    .argument('<suite>', 'name of a suite, see gw bench list')
    .option(
      '--scenario <id>',
      "measure only this scenario, or a pattern such as '*-post-5kb'; repeatable",
      collect,
    )
    .option('--tier <list>', 'measure only these tiers, such as W1,W2', nameList(TIER_NAMES))
    .option('--quick', 'run every scenario once for a few seconds, without fixed rates')
    .option(
      '--target <address>',
      'measure a running server, such as http://10.0.0.7:8080, instead of our gateway',
    )
    .option('--agents <list>', 'run on agents: ROLE=HOST:PORT of generator, origin and gateway')
    .option('--agent-token-file <file>', 'file with the token of the agents; default GW_BENCH_TOKEN')
    .with(addMeasuring)
    .runs(async () => (await import('./commands/run.js')).benchRun)
    .example(
      'gw bench run apinizer --tier W1 --with nginx',
      'gw bench run apinizer-classic --target http://10.0.0.7:8080 --no-rates',
      'gw bench run chaos --scenario worker-kill --fail-on-invalid',
    )
}

function addQuick(bench: GwCommand): void {
  bench
    .command('quick')
    .description('measure for a few seconds, or measure a running server; writes reports only with --out')
    .argument('[url]', 'URL of a running server; without it a gateway is started')
    .with(addCall)
    .with(addMeasuring)
    .runs(async () => (await import('./commands/run.js')).benchQuick)
    .example(
      'gw bench quick --with nginx',
      "gw bench quick http://127.0.0.1:8080/orders --data '{\"id\":1}' --header 'content-type: application/json'",
    )
}

function addPolicy(bench: GwCommand): void {
  bench
    .command('policy')
    .description('measure what one policy adds to a request; default: 16 pairs of 4 seconds')
    .argument('<name>', 'policy, or chain from gw bench list policies')
    .with(addMeasuring)
    .runs(async () => (await import('./commands/policy.js')).benchPolicy)
    .example('gw bench policy header', 'gw bench policy basic-auth --seconds 30 --repetitions 5')
}

/** Adds options for duration, repetitions, engines and results. */
function addMeasuring(command: GwCommand): void {
  command
    .option(
      '--connections <list>',
      "numbers of connections instead of the suite's, such as 64,256",
      numberList(1, MAX_CONNECTIONS),
    )
    .option(
      '--seconds <n>',
      'measured time of each point in seconds; default of the suite',
      wholeNumber(1, MAX_SECONDS),
    )
    .option(
      '--warm-up <n>',
      'seconds before the measured time; default of the suite',
      wholeNumber(0, MAX_SECONDS),
    )
    .option('--repetitions <n>', 'repetitions of each point; default of the suite', wholeNumber(1, 100))
    .option(
      '--cool-down <n>',
      'pause between points in seconds; default 5 for points of a minute or more',
      wholeNumber(0, 3600),
    )
    .option(
      '--rates <list>',
      'measure latency at these percentages of the throughput, such as 50,70,80,90',
      numberList(1, 100),
    )
    .option('--no-rates', 'measure throughput only')
    .option('--slo <time>', 'report the highest rate with a P99 below this, such as 50ms')
    .choice('--engine <name>', 'load generator', ENGINES, 'autocannon')
    .choice(
      '--saturation-engine <name>',
      'load generator for throughput, which need not hold a rate',
      ENGINES,
    )
    .option('--with <peers>', `measure these peers too: ${PEERS.join(', ')}`, nameList(PEERS))
    .option(
      '--pid <n>',
      'first process of a local target, for measuring CPU time and memory',
      wholeNumber(1, MAX_PID),
    )
    .option('--out <dir>', 'folder for the reports; default results/ID, except for quick')
    .option(
      '--jtl',
      'also write a sample of the requests to requests.jtl, for the report generator of JMeter',
    )
    .option('--no-pin', 'let the scheduler choose the cores')
    .option(
      '--fail-on-invalid',
      'exit with 7 if a point has no figures or a warning, or a trial is not passed',
    )
  command.output('table', 'json')
}

function addList(bench: GwCommand): void {
  bench
    .command('list')
    .description('list the suites, or the scenarios of a suite')
    .argument('[suite]', 'name of a suite')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('./commands/list.js')).listSuites)
    .example('gw bench list', 'gw bench list wso2-mi')
}

function addCompare(bench: GwCommand): void {
  bench
    .command('compare')
    .description('compare two runs of the same suite, point by point')
    .argument('<before>', 'summary.json or its folder')
    .argument('<after>', 'summary.json or folder of the later run')
    .option('--fail-if <limits>', 'exit with 7 if a limit is exceeded, such as "rps<-5% or p99>+10%"')
    .option('--partial', 'allow points that the later run has not measured')
    .output('table', 'json')
    .runs(async () => (await import('./commands/saved-runs.js')).benchCompare)
    .example('gw bench compare results/main results/branch --fail-if "rps<-5% or p99>+10%"')
}

function addReport(bench: GwCommand): void {
  bench
    .command('report')
    .description('write the reports of a run again')
    .argument('<run>', 'summary.json or its folder')
    .runs(async () => (await import('./commands/saved-runs.js')).benchReport)
    .example('gw bench report results/main')
}

function addCapacity(bench: GwCommand): void {
  bench
    .command('capacity')
    .description('calculate tier and replicas for a load from measured points')
    .needs('--rps <n>', { description: 'requests per second at peak', parse: wholeNumber(1, MAX_RATE) })
    .option('--body <size>', 'size of the request body, such as 5kb; default no body')
    .option('--policies <list>', 'policies of the route, such as basic-auth,header')
    .option(
      '--connections <n>',
      'concurrent client connections, for the memory of the pods',
      wholeNumber(1, MAX_RATE),
    )
    .option('--cache', 'calculate for gw cache-server; --body is the size of a value, 1kb by default')
    .option('--from <run>', 'run, or folder of runs; repeatable; default results', collect)
    .output('table', 'json')
    .runs(async () => (await import('./commands/saved-runs.js')).benchCapacity)
    .example(
      'gw bench capacity --rps 5000 --body 5kb --policies basic-auth',
      'gw bench capacity --cache --rps 5000 --body 10kb',
    )
}

function addUpstream(bench: GwCommand): void {
  bench
    .command('upstream')
    .description('run the built-in origin in the foreground, until SIGINT')
    .option('--listen <address>', 'listening address', '127.0.0.1:9000')
    .option('--bytes <size>', 'size of the responses', '128b')
    .option('--echo', 'respond with the request body')
    .option('--delay <time>', 'delay of each response, such as 10ms', '0ms')
    .runs(async () => (await import('./commands/servers.js')).benchUpstream)
    .example('gw bench upstream --listen 127.0.0.1:9000 --echo')
}

function addLoadgen(bench: GwCommand): void {
  bench
    .command('loadgen')
    .description('run a load generator alone; exits with 1 if there was no response')
    .argument('<url>', 'URL to request')
    .choice('--engine <name>', 'load generator', ENGINES, 'autocannon')
    .option('--connections <n>', 'number of connections', wholeNumber(1, MAX_CONNECTIONS), 64)
    .option('--seconds <n>', 'duration in seconds', wholeNumber(1, MAX_SECONDS), 10)
    .option(
      '--rate <n>',
      'requests per second, with latency from the planned time; default full speed',
      wholeNumber(1, MAX_RATE),
    )
    .with(addCall)
    .output('table', 'json')
    .runs(async () => (await import('./commands/loadgen.js')).benchLoadgen)
    .example('gw bench loadgen http://127.0.0.1:9000/ --connections 256 --rate 5000')
}

function addSink(bench: GwCommand): void {
  bench
    .command('sink')
    .description('count and discard log records in the foreground, until SIGINT')
    .option('--listen <address>', 'listening address', '127.0.0.1:9200')
    .option('--delay <time>', 'delay of each response, such as 50ms', '0ms')
    .output('table', 'json')
    .runs(async () => (await import('./commands/servers.js')).benchSink)
    .example('gw bench sink --listen 127.0.0.1:9200 --delay 20ms')
}

function addAgent(bench: GwCommand): void {
  bench
    .command('agent')
    .description('run load generator, origin or gateway for gw bench run --agents, until SIGINT')
    .option('--listen <address>', 'host:port; requires a token unless on loopback', '127.0.0.1:9700')
    .option('--token-file <file>', 'file with the token; default GW_BENCH_TOKEN')
    .option('--tls-cert <file>', 'certificate chain, PEM; requires --tls-key')
    .option('--tls-key <file>', 'private key, PEM')
    .runs(async () => (await import('./commands/agent.js')).benchAgent)
    .example('gw bench agent --listen 10.0.0.3:9700 --token-file token')
}

function addDoctor(bench: GwCommand): void {
  bench
    .command('doctor')
    .description('check whether this host suits a benchmark; exits with 2 if not')
    .output('table', 'json', 'yaml')
    .runs(async () => (await import('./commands/doctor.js')).benchDoctor)
    .example('gw bench doctor')
}

/** Adds options for the request to a URL. */
function addCall(command: GwCommand): void {
  command
    .choice('-X, --method <name>', 'method; default GET, or POST with a body', METHODS)
    .option(
      '-H, --header <line>',
      "header, such as 'accept: text/plain', or @FILE with header lines; repeatable",
      collect,
    )
    .option('--data <text>', 'request body, or @FILE')
    .option('--body <size>', 'size of a generated JSON body, such as 5kb')
}

/** Parses a comma-separated list of numbers within bounds. The result is sorted and unique. */
function numberList(least: number, most: number): (text: string) => number[] {
  const read = wholeNumber(least, most)
  return (text) => [...new Set(text.split(',').map((part) => read(part.trim())))].sort((a, b) => a - b)
}

/** Parses a comma-separated list of known names. The option may be repeated. */
function nameList<N extends string>(known: readonly N[]): (text: string, before?: readonly N[]) => N[] {
  return (text, before = []) => {
    const names = text.split(',').map((part) => {
      const name = known.find((one) => one === part.trim())
      if (name !== undefined) return name
      throw new InvalidArgumentError(`allowed choices are ${known.join(', ')}, with commas between them`)
    })
    return [...new Set([...before, ...names])]
  }
}
