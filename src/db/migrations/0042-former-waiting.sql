-- That of 0041 serves in its place.
DROP INDEX webhook_delivery_waiting;
