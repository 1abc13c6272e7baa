import { type Static, Type } from '@sinclair/typebox'
import { DURATION_PATTERN, SIZE_PATTERN } from '@sluice/core'
import { closed, optionalOneOf, optionalString, policyOptions } from '../../shared/options.js'
import { textSource } from '../../shared/text-source.js'

const limits = closed('What a call may use; more is an error of the script.', {
  time: optionalString('CPU time of one call, `1ms` to `1s`. The requests of the worker wait meanwhile.', {
    default: '20ms',
    pattern: DURATION_PATTERN,
  }),
  memory: optionalString('Memory of the script, `1mb` to `64mb`, once per worker.', {
    default: '16mb',
    pattern: SIZE_PATTERN,
  }),
  stack: optionalString('Stack of the script, `32kb` to `256kb`; 128kb is some 700 calls deep.', {
    default: '128kb',
    pattern: SIZE_PATTERN,
  }),
  body: optionalString('Largest body that is given to the script, and that it may make; up to `4mb`.', {
    default: '1mb',
    pattern: SIZE_PATTERN,
  }),
})

/** The configuration of `script`. */
export const scriptSchema = policyOptions(
  {
    script: textSource('the script, an ES module,'),
    body: Type.Optional(
      Type.Union([Type.Boolean(), Type.Literal('request'), Type.Literal('response')], {
        default: false,
        description:
          'Which bodies the script reads or replaces: `request`, `response`, `true` for both. A body that is not declared streams through.',
      }),
    ),
    engine: optionalOneOf(
      ['auto', 'quickjs', 'isolated-vm'],
      '`auto`: isolated-vm where that package is installed beside the gateway, else QuickJS, which comes with it. isolated-vm is three to five times as fast and contains less: see below.',
      'auto',
    ),
    limits: Type.Optional(limits),
  },
  [
    'The script is an ES module that exports one or more of `onRequest(ctx)`, `onResponse(ctx)` and `onError(ctx)`. The last sees the answers with which the gateway itself refuses, as far as the policy lets the request pass before. The types of `ctx` are exported by `@sluice/policies/script`; write `/** @param {import("@sluice/policies/script").RequestContext} ctx */` above a function and the editor completes it.',
    '`ctx.req` has `method`, `scheme`, `host`, `path`, `params`, `clientIp`, `id`, and `query` and `headers` with `get`, `getAll`, `has`, `names`, `set`, `append` and `remove`; `ctx.res` has `status` and `headers`; where the body is declared both have `body.text()`, `body.json()` and `body.set(value)`. `ctx.vars` are the free variables, `ctx.consumer` the caller, `ctx.error` in `onError` the `code` and `message` of the refusal. `ctx.respond(status, body, headers)` answers instead of the upstream; `ctx.log(…)` writes to the log of the operator, at most 20 lines of 1,000 characters a call.',
    'With a declared body a hook runs once the body is there, after the hooks of all policies that need no body. A body in a content coding is refused with 415 (a response with 502), and so is, with 400 and 502, one that the script reads and that is not UTF-8 text or not JSON, unless the script catches that.',
    'Scripts run in a sandbox: the language and its objects, nothing else. There is no `fetch`, no timer, no file, no `import`, no `eval`. A hook may be `async` or return any thenable; the call fails if that rejects or never settles. It can only await promises that it creates itself. A call ends when all promise callbacks have run, awaited or not. An unhandled rejection fails the call. The globals are frozen before the script is loaded. Module variables live as long as the sandbox; each worker (and each thread for large bodies) has its own, so do not keep request data in them. A call that exceeds a limit replaces the sandbox.',
    'A script that throws or meets a limit fails the policy: 500 `GW_SCRIPT_ERROR` without any details, which go to the log of the operator as `policy_failed`; with `onError: continue` the request goes on unchanged. What comes out of the sandbox is checked like what comes from a client: header names and values, status, sizes. Fields that the gateway writes itself cannot be changed (see `header`). The changes of a call happen all or not at all.',
    'The limit of time is CPU time, counted with that of the other threads of the process; a call ends in any case after ten times as long. Bodies of 32 KB and more are worked on in a thread.',
    'QuickJS runs in WebAssembly, which is stopped wherever it is: nothing that a script does goes on for more than a quarter of a second beyond its time, on a machine that has CPU for it. In isolated-vm (the npm package, 5.0.4 for Node.js 20, 6.2 for 22; workers start with `--no-node-snapshot` where it is installed) the limit is the time of the clock, the stack is that of V8, memory is at least 8mb, and some functions of V8 cannot be stopped before they end: with one line such as `new Array(2 ** 32 - 1).indexOf(1)` a worker hangs until the gateway replaces it, after 4 s and with all requests in it. Install it for scripts whose authors you trust; write `engine: quickjs` where you do not.',
    'There is no trusted mode: code that may use all of Node.js is a plugin, not a script. `gw script test FILE` runs a script against a request from a file.',
  ],
)

/** The configuration of `script`, derived from its schema. */
export type ScriptConfig = Static<typeof scriptSchema>
