/** What has to be read again when a record, or a group of records, changes. */
export interface Dependent {
  spoil(id: string): void;
}
