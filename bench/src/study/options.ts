import { parseArgs } from 'node:util'

/** What the command line may say: the default of a whole number, or null for a text that may be left out. */
type Defaults = Readonly<Record<string, number | null>>

/** What it said, or the defaults. */
export type Options<D extends Defaults> = {
  readonly [K in keyof D]: D[K] extends number ? number : string | null
}

/** The options of a study; ends the program with a message when they cannot be read. */
export function optionsOf<D extends Defaults>(defaults: D): Options<D> {
  try {
    return parseOptions(defaults, process.argv.slice(2))
  } catch (error) {
    console.error((error as Error).message)
    process.exit(2)
  }
}

/** @throws Error for an option that there is not, and for a number that is no whole one above 0 */
export function parseOptions<D extends Defaults>(defaults: D, args: string[]): Options<D> {
  const names = Object.keys(defaults)
  const shape = Object.fromEntries(names.map((name) => [name, { type: 'string' }] as const))
  const found = Object.entries(valuesOf(shape, args)).map(([name, text]) => {
    return [name, typeof defaults[name] === 'number' ? wholeNumber(name, text) : text] as const
  })
  return { ...defaults, ...Object.fromEntries(found) } as Options<D>
}

function valuesOf(
  options: Readonly<Record<string, { readonly type: 'string' }>>,
  args: string[],
): Record<string, string> {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values as Record<
      string,
      string
    >
  } catch (error) {
    // What Node.js says behind the first sentence is about positional arguments, which no study has.
    const problem = (error as Error).message.split('. ')[0]!
    const known = Object.keys(options).map((name) => `--${name}`)
    const remedy = known.length === 0 ? 'there are no options' : `the options are ${known.join(', ')}`
    throw new Error(`${problem}; ${remedy}`, { cause: error })
  }
}

function wholeNumber(name: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new Error(`--${name} is '${text}'; write a whole number from 1`)
}
