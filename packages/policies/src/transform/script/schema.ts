import { type Static, Type } from '@sinclair/typebox'
import { DURATION_PATTERN, SIZE_PATTERN } from '@sluice/core'
import { closed, optionalOneOf, optionalString, policyOptions } from '../../shared/options/options.js'
import { textSource } from '../../shared/options/text-source.js'

const limits = closed('Resource limits. Exceeding one is a script error.', {
  time: optionalString('CPU time of one call, `1ms` to `1s`. Other requests of the worker wait meanwhile.', {
    default: '20ms',
    pattern: DURATION_PATTERN,
  }),
  memory: optionalString('Memory of the script per worker, `1mb` to `64mb`.', {
    default: '16mb',
    pattern: SIZE_PATTERN,
  }),
  stack: optionalString('Stack of the script, `32kb` to `256kb`. 128kb allows about 700 nested calls.', {
    default: '128kb',
    pattern: SIZE_PATTERN,
  }),
  body: optionalString('Maximum size of bodies that the script reads or creates, up to `4mb`.', {
    default: '1mb',
    pattern: SIZE_PATTERN,
  }),
})

/** Schema of the `script` configuration. */
export const scriptSchema = policyOptions(
  {
    script: textSource('the script, an ES module,'),
    body: Type.Optional(
      Type.Union([Type.Boolean(), Type.Literal('request'), Type.Literal('response')], {
        default: false,
        description:
          'Bodies that the script reads or replaces: `request`, `response`, or `true` for both. Other bodies stream through.',
      }),
    ),
    engine: optionalOneOf(
      ['auto', 'quickjs', 'isolated-vm'],
      'Script engine. `auto` uses isolated-vm if that package is installed next to the gateway, otherwise the bundled QuickJS. isolated-vm is three to five times as fast, but isolates less: see below.',
      'auto',
    ),
    limits: Type.Optional(limits),
  },
  [
    'The script is an ES module that exports one or more of `onRequest(ctx)`, `onResponse(ctx)` and `onError(ctx)`. `onError` runs for responses that the gateway creates itself, if the request passed this policy before. The types of `ctx` are exported by `@sluice/policies/script`. Write `/** @param {import("@sluice/policies/script").RequestContext} ctx */` above a function to get completion in an editor.',
    '`ctx.req` has `method`, `scheme`, `host`, `path`, `params`, `clientIp`, `id`, and `query` and `headers` with `get`, `getAll`, `has`, `names`, `set`, `append` and `remove`. `ctx.res` has `status` and `headers`. If the body is declared, both have `body.text()`, `body.json()` and `body.set(value)`. `ctx.vars` has the free variables, `ctx.consumer` the consumer, and `ctx.error` in `onError` the `code` and `message` of the refusal. `ctx.respond(status, body, headers)` answers in place of the upstream. `ctx.log(…)` writes to the operator log, at most 20 lines of 1,000 characters per call.',
    'With a declared body, a hook runs after the body has been received, and after the hooks of all policies that need no body. A body with a content coding gets 415 (a response 502). If the script reads a body that is not UTF-8 text or not JSON, the request gets 400 (a response 502), unless the script catches the error.',
    'Scripts run in a sandbox: the language and its objects, nothing else. There is no `fetch`, no timer, no file, no `import`, no `eval`. A hook may be `async` or return any thenable; the call fails if that rejects or never settles. It can only await promises that it creates itself. A call ends when all promise callbacks have run, awaited or not. An unhandled rejection fails the call. The globals are frozen before the script is loaded. Module variables live as long as the sandbox; each worker (and each thread for large bodies) has its own, so do not keep request data in them. A call that exceeds a limit replaces the sandbox.',
    'If a script throws or exceeds a limit, the policy fails with 500 `GW_SCRIPT_ERROR`. The details go only to the operator log, as `policy_failed`. With `onError: continue`, the request continues unchanged. Results of the sandbox are validated like client input: header names and values, status, sizes. Fields that the gateway writes itself cannot be changed (see `header`). The changes of a call apply all or not at all.',
    'The time limit is CPU time, measured for all threads of the process. A call always ends after ten times the limit of wall clock time. Bodies of 32 KB or more are processed on a thread.',
    'QuickJS runs in WebAssembly, which can be stopped at any point. A script ends within a quarter of a second after its time limit, if the machine has CPU to spare. isolated-vm is an npm package (5.0.4 for Node.js 20, 6.2 for 22). If it is installed, workers start with `--no-node-snapshot`. It limits wall clock time, uses the stack of V8, and needs at least 8mb of memory. Some functions of V8 cannot be interrupted: one line such as `new Array(2 ** 32 - 1).indexOf(1)` hangs a worker until the gateway replaces it after 4 s, with all its requests. Install it only if you trust the authors of the scripts. Otherwise set `engine: quickjs`.',
    'There is no trusted mode. Code that needs all of Node.js must be a plugin. `gw script test FILE` runs a script against a request from a file.',
  ],
)

/** Configuration of `script`, derived from its schema. */
export type ScriptConfig = Static<typeof scriptSchema>
