"""The eight queries of the field's benchmark of analysis languages, in several ways."""
