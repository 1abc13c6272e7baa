/** What a steered origin answers, whatever it is asked for. */
export const STEERED_BODY = '0123456789abcdef'.repeat(8)
