/** Error codes of `script`. */
export const SCRIPT_ERRORS = {
  GW_SCRIPT_ERROR: {
    status: 500,
    title: 'Script failed',
    when: 'A script failed, or exceeded its time or memory limit.',
    remedy: 'Check the script with `gw script test`, or raise `limits`.',
  },
} as const
