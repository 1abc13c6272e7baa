import type { Command } from 'commander'
import type { BenchTools } from '../bench/tools.js'
import { runs, wholeNumber, withExample, withOutput } from './building.js'
import { addCall, engineOption, MAX_CONNECTIONS, MAX_SECONDS } from './load-options.js'

const MAX_RATE = 10_000_000

type LoadTools = () => Promise<BenchTools>

/** Adds the parts of a benchmark, each by itself: origin, load generator, a log's target, and the look at the machine. */
export function addBenchParts(bench: Command, tools: LoadTools): void {
  addUpstream(bench, tools)
  addLoadgen(bench, tools)
  addSink(bench, tools)
  addDoctor(bench, tools)
}

function addUpstream(bench: Command, tools: LoadTools): void {
  const upstream = bench
    .command('upstream')
    .description('run the built-in origin in the foreground, until SIGINT')
    .option('--listen <address>', 'where', '127.0.0.1:9000')
    .option('--bytes <size>', 'size of its answers', '128b')
    .option('--echo', 'answer with the body of the request')
    .option('--delay <time>', 'before each answer, such as 10ms', '0ms')
    .action(
      runs(async () => {
        const { benchUpstream } = await import('../bench/upstream.js')
        return benchUpstream(await tools())
      }),
    )
  withExample(upstream, 'gw bench upstream --listen 127.0.0.1:9000 --echo')
}

function addLoadgen(bench: Command, tools: LoadTools): void {
  const loadgen = bench
    .command('loadgen')
    .description('run a load generator by itself; exits with 1 when nothing was answered')
    .argument('<url>', 'what is asked for')
    .addOption(engineOption('--engine <name>', 'the load generator').default('autocannon'))
    .option('--connections <n>', 'so many', wholeNumber(1, MAX_CONNECTIONS), 64)
    .option('--seconds <n>', 'so long', wholeNumber(1, MAX_SECONDS), 10)
    .option(
      '--rate <n>',
      'requests a second, counted from when they were due; default as fast as it goes',
      wholeNumber(1, MAX_RATE),
    )
  addCall(loadgen)
  withOutput(loadgen, 'table', 'json').action(
    runs(async () => {
      const { benchLoadgen } = await import('../bench/loadgen.js')
      return benchLoadgen(await tools())
    }),
  )
  withExample(loadgen, 'gw bench loadgen http://127.0.0.1:9000/ --connections 256 --rate 5000')
}

function addSink(bench: Command, tools: LoadTools): void {
  const sink = bench
    .command('sink')
    .description('take what a traffic log ships, count it and forget it, until SIGINT')
    .option('--listen <address>', 'where', '127.0.0.1:9200')
    .option('--reject <percent>', 'of the records, for now (429)', wholeNumber(0, 100), 0)
    .option('--delay <time>', 'before each answer, such as 50ms', '0ms')
  withOutput(sink, 'table', 'json').action(
    runs(async () => {
      const { benchSink } = await import('../bench/sink.js')
      return benchSink(await tools())
    }),
  )
  withExample(sink, 'gw bench sink --listen 127.0.0.1:9200 --delay 20ms')
}

function addDoctor(bench: Command, tools: LoadTools): void {
  const doctor = bench
    .command('doctor')
    .description('whether this host is fit for measurements; exits with 2 when something is amiss')
  withOutput(doctor, 'table', 'json', 'yaml').action(
    runs(async () => {
      const { benchDoctor } = await import('../bench/doctor.js')
      return benchDoctor(await tools())
    }),
  )
  withExample(doctor, 'gw bench doctor')
}
