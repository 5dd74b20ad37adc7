"""A local web application in which a person corrects a clustering, and the items are clustered again."""
