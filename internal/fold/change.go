package fold

// Region is a place for parts.
type Region string

const (
	RegionLead   Region = "lead"
	RegionRows   Region = "rows"
	RegionSink   Region = "sink"
	RegionAnswer Region = "answer"
)

// ChangeKind says what a Change is about.
type ChangeKind int

const (
	// RunChanged: anything of the run outside rows and parts (state, finish
	// reason, counter, usage, debt, waiting, error, unattached children).
	RunChanged ChangeKind = iota
	// RowsReset: rows were removed or reordered; show the whole list anew.
	RowsReset
	// RowAdded: a new row; it stands after the rows before it (Index).
	RowAdded
	// RowChanged: a field of the row other than Parts.
	RowChanged
	// RegionReset: parts moved or went; show the whole region (of Row, where Region is RegionRows) anew.
	RegionReset
	// PartAdded: a part at the end of its region, whole, with its blocks.
	PartAdded
	// PartChanged: the part's head (state, tool, data); not its blocks.
	PartChanged
	// BlockAdded: a block at the end of the part.
	BlockAdded
	// BlockChanged: the block as a whole (grew, closed).
	BlockChanged
	// PieceAdded, PieceChanged: a piece of a long open block.
	PieceAdded
	PieceChanged
)

// Change is one difference between two snapshots. Region and Row say where: Row
// is nil outside RegionRows.
type Change struct {
	Kind   ChangeKind
	Region Region
	Row    *Row
	Part   *Part
	Block  *Block
	Piece  *Piece
}
