/** The database can't be asked at the moment: the caller may try again. */
export class DatabaseUnavailable extends Error {}
