export const skew = { id: 'skew', property: 'skew', async run() { return { notRun: 'x' } } }
