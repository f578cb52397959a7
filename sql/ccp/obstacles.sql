-- needs: lattice/trace.sql, maps/drawn.sql, ccp/hills.sql
-- All that a ccp line of sight meets between its end hexes: 16.1 to 16.3, T81.4 to T99.
--
-- A row a thing: drawn areas, hexes taken as filled, smoke, blazes, crest lines, ground above the ends.
--
-- Exactness. Where a line enters and leaves a hex, and where it meets an edge of artwork, are fractions of whole numbers.
-- They are compared as the marks of maps._mark, without rounding.
--
-- The parts are put into one query (a row as an argument costs nothing there), so that a fan is
-- judged in one go.

drop type if exists ccp.cell cascade;
create type ccp.cell as (
  i integer,
  n integer,
  kind text,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  floor integer,
  enter bigint,
  leave bigint,
  den bigint,
  begun boolean,
  goes_on boolean,
  x1 bigint,
  y1 bigint,
  x2 bigint,
  y2 bigint,
  drawn boolean
);

comment on type ccp.cell is
'A piece of a line in a hex between its ends: a hex, a side that it runs along (once for each of its hexes) or a corner.';
comment on column ccp.cell.begun is 'Whether its beginning is not on the side of the viewer''s hex, its end not on the target''s';
comment on column ccp.cell.x1 is 'Where the piece begins and ends, times den';
comment on column ccp.cell.drawn is 'The terrain of its hex is drawn there';

drop type if exists ccp.artwork cascade;
create type ccp.artwork as (
  q integer,
  r integer,
  what text,
  terrain text,
  area integer,
  value integer,
  covers boolean
);

comment on type ccp.artwork is
'An area or a crest line that has a part in a hex: its Hindrance or level, and whether it covers all of the hex.';

drop type if exists ccp.thing cascade;
create type ccp.thing as (
  i integer,
  n integer,
  kind text,
  q integer,
  r integer,
  label text,
  level integer,
  enter bigint,
  leave bigint,
  den bigint,
  what text,
  terrain text,
  area integer,
  value integer,
  inside boolean
);

comment on type ccp.thing is
'What a line meets in a cell, and whether more of it than the edge; null: nothing.';

drop type if exists ccp.obstacle cascade;
create type ccp.obstacle as (
  i integer,
  n integer,
  m integer,
  kind text,
  q integer,
  r integer,
  label text,
  level integer,
  enter bigint,
  leave bigint,
  den bigint,
  what text,
  terrain text,
  area integer,
  value integer,
  inside boolean,
  high integer,
  low integer,
  barrier integer,
  on_map boolean,
  place text,
  beside_lower boolean,
  past_own_level boolean,
  on_its_hill boolean
);

comment on type ccp.obstacle is
'A thing that a line meets, with what its judgement asks of the line and of its other cells.';
comment on column ccp.obstacle.m is 'Its place among the things of the cell';
comment on column ccp.obstacle.beside_lower is 'Whether it is in the hex next to the lower end (T89.4.1)';
comment on column ccp.obstacle.past_own_level is 'Whether the line passes ground as high as the lower end (ccp-33)';
comment on column ccp.obstacle.on_its_hill is 'Whether from the higher end to here all is its hill, without a break (ccp-33)';

create or replace function ccp._screens()
returns table (terrain text, hindrance integer)
language sql stable parallel safe rows 8
as $$
  select
    terrain.code,
    effect.halves / 2
  from public.terrain
  left join public.terrain_effect as effect
    on effect.ruleset = terrain.ruleset
      and effect.feature = 'terrain'
      and effect.code = terrain.code
      and effect.aspect = 'hindrance'
  where terrain.ruleset = 'ccp'
    and terrain.sight in ('blocks', 'hinders')
$$;

comment on function ccp._screens() is
'Terrain that bears on sight: a Hindrance with its number, an Obstacle without (T81.4).';

create or replace function ccp._cells(map_id bigint, viewer ccp.line_end, line ccp.line)
returns setof ccp.cell
language sql stable parallel safe rows 20
as $$
  select
    line.i,
    passed.n::integer,
    passed.kind,
    side.q,
    side.r,
    hex.label,
    hex.terrain,
    hex.level::integer,
    line.floor,
    passed.enter,
    passed.leave,
    passed.den,
    passed.enter > line.first,
    passed.leave < line.last,
    3 * viewer.q * passed.den + 3 * (line.q - viewer.q) * passed.enter,
    (2 * viewer.r + viewer.q) * passed.den + (2 * (line.r - viewer.r) + line.q - viewer.q) * passed.enter,
    3 * viewer.q * passed.den + 3 * (line.q - viewer.q) * passed.leave,
    (2 * viewer.r + viewer.q) * passed.den + (2 * (line.r - viewer.r) + line.q - viewer.q) * passed.leave,
    hex.drawn
  from lattice.line(viewer.q, viewer.r, line.q, line.r) as passed
  cross join lateral (values (1, passed.q1, passed.r1), (2, passed.q2, passed.r2)) as side (i, q, r)
  left join public.drawn_hex as hex
    on hex.map_id = _cells.map_id
      and hex.q = side.q
      and hex.r = side.r
  where passed.kind in ('hex', 'spine', 'touch')
    and (side.i = 1 or passed.kind = 'spine')
$$;

comment on function ccp._cells(bigint, ccp.line_end, ccp.line) is
'The cells of a line between its end hexes; one off the map has no label.';

create or replace function ccp._artwork(map_id bigint, q integer, r integer)
returns setof ccp.artwork
language sql stable parallel safe rows 2
as $$
  select
    hex.q,
    hex.r,
    case when area.terrain = 'blaze' then 'blaze' else 'area' end,
    area.terrain,
    area.n,
    screen.hindrance,
    area.n = any(hex.whole)
  from public.drawn_hex as hex
  inner join public.terrain_area as area
    on area.map_id = hex.map_id
      and area.n = any(hex.areas)
  inner join ccp._screens() as screen on screen.terrain = area.terrain
  where hex.map_id = _artwork.map_id
    and hex.q = _artwork.q
    and hex.r = _artwork.r
  union all
  select
    hex.q,
    hex.r,
    'crest',
    null,
    crest.n,
    crest.level,
    false
  from public.drawn_hex as hex
  cross join lateral unnest(hex.crests, hex.crest_levels) as crest (n, level)
  where hex.map_id = _artwork.map_id
    and hex.q = _artwork.q
    and hex.r = _artwork.r
$$;

comment on function ccp._artwork(bigint, integer, integer) is
'Areas that bear on sight, and crest lines, of which a hex has a part.';

drop type if exists ccp.stretch cascade;
create type ccp.stretch as (
  i integer,
  n integer,
  kind text,
  q integer,
  r integer,
  what text,
  terrain text,
  area integer,
  value integer,
  covers boolean,
  begun boolean,
  goes_on boolean,
  enter numeric,
  leave numeric
);

comment on type ccp.stretch is
'A cell of a line with artwork that has a part in its hex: whether it meets that is to be found out.';

create or replace function ccp._met_edges(
  kind text, begun boolean, goes_on boolean, enter numeric, leave numeric, first numeric, last numeric
)
returns boolean
language sql immutable parallel safe
-- an end of the piece counts unless it lies on the side of an end hex
return first <= leave
and last >= enter
and (
  kind = 'touch'
  or greatest(first, enter) < least(last, leave)
  or ((begun or first > enter) and (goes_on or greatest(first, enter) < leave))
);

comment on function ccp._met_edges(text, boolean, boolean, numeric, numeric, numeric, numeric) is
'Whether an edge that a line meets from its first to its last mark is met in a piece of the line (16.1).';

drop type if exists ccp.met_artwork cascade;
create type ccp.met_artwork as (
  i integer,
  n integer,
  q integer,
  r integer,
  what text,
  terrain text,
  area integer,
  value integer,
  inside boolean
);

comment on type ccp.met_artwork is
'Artwork that a piece of a line meets, or what is all over its hex; and whether it meets more of it than the edge.';

create or replace function ccp._begun(map_id bigint, viewer ccp.line_end, lines ccp.line[], areas integer[])
returns maps.meeting[]
language plpgsql stable parallel safe
as $$
begin
  if not exists (
    select
    from public.drawn_hex as hex
    where hex.map_id = _begun.map_id
      and hex.q = viewer.q
      and hex.r = viewer.r
      and hex.within || hex.brink && _begun.areas
  ) then
    return '{}';
  end if;
  return array(
    select row(begun.i, false, begun.n, null, begun.leftward, -begun.rightward, 0, null)::maps.meeting
    from maps._beginnings(
      _begun.map_id,
      viewer.q,
      viewer.r,
      array(select line.i from unnest(lines) as line),
      array(select line.q from unnest(lines) as line),
      array(select line.r from unnest(lines) as line),
      _begun.areas
    ) as begun
  );
end
$$;

comment on function ccp._begun(bigint, ccp.line_end, ccp.line[], integer[]) is
'The areas that lines begin in, as if their edges were crossed there.';

create or replace function ccp._met_pieces(pieces ccp.stretch[], meetings maps.meeting[])
returns setof ccp.met_artwork
language sql stable parallel safe rows 100
as $$
  with met as materialized (
    select * from unnest(meetings)
  ),
  turn as (
    select
      met.i,
      met.n,
      met.first as mark,
      sum(case when (met.off1 > 0) = (met.off2 > 0) then 0 when met.off2 < met.off1 then 1 else -1 end) as leftward,
      sum(case when (met.off1 < 0) = (met.off2 < 0) then 0 when met.off2 < met.off1 then 1 else -1 end) as rightward
    from met
    where not met.crest
      and met.last is null
    group by met.i, met.n, met.first
  ),
  strip as materialized (
    select
      turn.i,
      turn.n,
      turn.mark as enter,
      lead(turn.mark, 1, 2e60) over way as leave,
      sum(turn.leftward) over way as leftward,
      sum(turn.rightward) over way as rightward
    from turn
    window way as (partition by turn.i, turn.n order by turn.mark)
  ),
  piece as materialized (
    select * from unnest(pieces)
  ),
  found as (
    select piece.*, true as inside
    from piece
    where piece.covers and piece.kind = 'hex'
    union all
    select piece.*, piece.what = 'crest'
    from piece
    inner join met on met.i = piece.i and met.n = piece.area and met.crest = (piece.what = 'crest')
    where ccp._met_edges(
        piece.kind, piece.begun, piece.goes_on, piece.enter, piece.leave, met.first, coalesce(met.last, met.first)
      )
    union all
    -- an area is on the line where it is just beside it on either side
    select piece.*, true
    from piece
    inner join strip on strip.i = piece.i and strip.n = piece.area and piece.what <> 'crest'
    where strip.leftward > 0
      and strip.rightward > 0
      and strip.enter < piece.leave
      and strip.leave > piece.enter
  )
  select
    found.i,
    found.n,
    found.q,
    found.r,
    found.what,
    found.terrain,
    found.area,
    found.value,
    bool_or(found.inside)
  from found
  group by 1, 2, 3, 4, 5, 6, 7, 8
$$;

comment on function ccp._met_pieces(ccp.stretch[], maps.meeting[]) is
'The artwork that pieces of lines meet in their hexes, by where the lines meet its edges (16.1).';

create or replace function ccp._drawn(map_id bigint, viewer ccp.line_end, lines ccp.line[], pieces ccp.stretch[])
returns setof ccp.met_artwork
language plpgsql stable parallel safe rows 100
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
as $$
declare
  areas integer[] := array(select distinct piece.area from unnest(pieces) as piece where piece.what <> 'crest');
  meetings maps.meeting[];
begin
  meetings := array(
    select met
    from maps._meetings(
      map_id,
      viewer.q,
      viewer.r,
      array(select line.i from unnest(lines) as line),
      array(select line.q from unnest(lines) as line),
      array(select line.r from unnest(lines) as line),
      areas,
      exists (select from unnest(pieces) as piece where piece.what = 'crest')
    ) as met
    -- what begins at the very dot is reckoned with the dot
    where met.crest or met.last is not null or met.first > 0
  ) || ccp._begun(map_id, viewer, lines, areas);
  return query select met.* from ccp._met_pieces(pieces, meetings) as met;
end
$$;

comment on function ccp._drawn(bigint, ccp.line_end, ccp.line[], ccp.stretch[]) is
'The artwork that pieces of lines meet in their hexes, and whether they meet more of it than the edge (16.1).';

create or replace function ccp._rises(map_id bigint, cell ccp.cell, top integer)
returns boolean
language sql stable parallel safe
return case
  -- halfway through, where no crest line is met
  when top >= cell.floor
    then ccp._high(
      row(map_id, cell.x1 + cell.x2, cell.y1 + cell.y2, 2 * cell.den)::ccp.spot,
      cell.q, cell.r, cell.level, cell.floor
    )
  else cell.level >= cell.floor
end;

comment on function ccp._rises(bigint, ccp.cell, integer) is
'Whether a cell that meets no crest line is hill to a line; `top` is the highest crest line in its hex (T89.3).';

create or replace function ccp._many_things(state positions.state, viewer ccp.line_end, lines ccp.line[])
returns setof ccp.thing
language sql stable parallel safe rows 500
as $$
  with cell as materialized (
    select cell.*
    from unnest(lines) as line
    cross join lateral ccp._cells(state.map_id, viewer, line) as cell
  ),
  artwork as materialized (
    select artwork.*
    from (select distinct cell.q, cell.r from cell where cell.label is not null) as ground
    cross join lateral ccp._artwork(state.map_id, ground.q, ground.r) as artwork
  ),
  -- what the artwork tells of a whole hex
  ground as materialized (
    select
      artwork.q,
      artwork.r,
      array_agg(artwork.terrain) filter (where artwork.terrain is not null) as terrains,
      max(artwork.value) filter (where artwork.what = 'crest') as top
    from artwork
    group by artwork.q, artwork.r
  ),
  drawn as materialized (
    select drawn.*
    from (
      select
        array_agg(
          row(
            cell.i, cell.n, cell.kind, cell.q, cell.r, artwork.what, artwork.terrain, artwork.area, artwork.value,
            artwork.covers, cell.begun, cell.goes_on, maps._mark(cell.enter, cell.den), maps._mark(cell.leave, cell.den)
          )::ccp.stretch
        ) as all
      from cell
      inner join artwork
        on artwork.q = cell.q
          and artwork.r = cell.r
          and (artwork.what <> 'crest' or artwork.value >= cell.floor)
    ) as piece
    cross join lateral ccp._drawn(state.map_id, viewer, lines, piece.all) as drawn
    where piece.all is not null
  ),
  -- what is all over a hex
  filling as (
    select cell.i, cell.n, cell.kind, cell.q, cell.r, 'fill' as what, cell.terrain, screen.hindrance as value
    from cell
    inner join ccp._screens() as screen on screen.terrain = cell.terrain and screen.terrain <> 'blaze'
    left join ground on ground.q = cell.q and ground.r = cell.r
    where (cell.terrain = any(ground.terrains)) is not true
    union all
    select cell.i, cell.n, cell.kind, cell.q, cell.r, 'hill', null, null
    from cell
    left join ground on ground.q = cell.q and ground.r = cell.r
    left join (
      select distinct drawn.i, drawn.n, drawn.q, drawn.r
      from drawn
      where drawn.what = 'crest'
    ) as crossed on crossed.i = cell.i and crossed.n = cell.n and crossed.q = cell.q and crossed.r = cell.r
    where case when crossed.i is null then ccp._rises(state.map_id, cell::ccp.cell, ground.top) end
  ),
  mark as (
    select marker.q, marker.r, marker.kind, max(marker.value)::integer as value
    from public.marker
    where marker.position_id = state.position_id
      and marker.kind in ('smoke', 'blaze')
    group by marker.q, marker.r, marker.kind
    union
    select cell.q, cell.r, 'blaze', null
    from cell
    where cell.terrain = 'blaze'
  ),
  met as (
    select i, n, q, r, what, terrain, area, value, inside from drawn
    union all
    select
      i, n, q, r, what, terrain, null, value,
      -- along a side it counts as inside where both hexes are full of it
      kind = 'hex' or (kind = 'spine' and count(*) over (partition by i, n, what, value is null) = 2)
    from filling
    union all
    select cell.i, cell.n, cell.q, cell.r, mark.kind, null, null, mark.value, cell.kind <> 'touch'
    from cell
    inner join mark on mark.q = cell.q and mark.r = cell.r
  )
  select
    cell.i,
    cell.n,
    cell.kind,
    cell.q,
    cell.r,
    cell.label,
    cell.level,
    cell.enter,
    cell.leave,
    cell.den,
    met.what,
    met.terrain,
    met.area,
    met.value,
    met.inside
  from cell
  left join met on met.i = cell.i and met.n = cell.n and met.q = cell.q and met.r = cell.r
$$;

comment on function ccp._many_things(positions.state, ccp.line_end, ccp.line[]) is
'All that lines meet between their end hexes, a row a thing; ground and crest lines from each line''s floor up.';

create or replace function ccp._pieces(map_id bigint, cells ccp.cell[])
returns setof ccp.stretch
language sql stable parallel safe rows 10
as $$
  select
    cell.i,
    cell.n,
    cell.kind,
    cell.q,
    cell.r,
    artwork.what,
    artwork.terrain,
    artwork.area,
    artwork.value,
    artwork.covers,
    cell.begun,
    cell.goes_on,
    maps._mark(cell.enter, cell.den),
    maps._mark(cell.leave, cell.den)
  from unnest(cells) as cell
  cross join lateral ccp._artwork(_pieces.map_id, cell.q, cell.r) as artwork
  where cell.label is not null
    and (artwork.what <> 'crest' or artwork.value >= cell.floor)
$$;

comment on function ccp._pieces(bigint, ccp.cell[]) is
'The cells of a line with each artwork that has a part in their hexes.';

create or replace function ccp._line_artwork(
  map_id bigint, viewer ccp.line_end, line ccp.line, cells ccp.cell[], pieces ccp.stretch[]
)
returns ccp.met_artwork[]
language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan
as $$
declare
  qs integer[] := array[viewer.q, line.q];
  rs integer[] := array[viewer.r, line.r];
  areas integer[] := '{}';
  cell ccp.cell;
  piece ccp.stretch;
  meetings maps.meeting[];
begin
  foreach cell in array cells loop
    -- of the two hexes of a side that a line runs along either has all edges that meet it
    if cell.kind <> 'touch' then
      qs := qs || cell.q;
      rs := rs || cell.r;
    end if;
  end loop;
  foreach piece in array pieces loop
    if piece.what <> 'crest' then
      areas := areas || piece.area;
    end if;
  end loop;
  meetings := array(
    select met
    from maps._one_line_meetings(_line_artwork.map_id, viewer.q, viewer.r, line.q, line.r, qs, rs) as met
    -- what begins at the very dot is reckoned with the dot
    where met.crest or met.last is not null or met.first > 0
  ) || ccp._begun(_line_artwork.map_id, viewer, array[line], areas);
  return array(select met from ccp._met_pieces(pieces, meetings) as met);
end
$$;

comment on function ccp._line_artwork(bigint, ccp.line_end, ccp.line, ccp.cell[], ccp.stretch[]) is
'The artwork that one line meets in its pieces.';

create or replace function ccp._line_filling(
  map_id bigint, cells ccp.cell[], pieces ccp.stretch[], met ccp.met_artwork[]
)
returns setof ccp.met_artwork
language sql stable parallel safe rows 2
as $$
  select
    filling.i,
    filling.n,
    filling.q,
    filling.r,
    filling.what,
    filling.terrain,
    null::integer,
    filling.value,
    -- along a side it counts as inside where both hexes are full of it
    filling.kind = 'hex'
    or (filling.kind = 'spine' and count(*) over (partition by filling.n, filling.what, filling.value is null) = 2)
  from (
    select cell.i, cell.n, cell.kind, cell.q, cell.r, 'fill' as what, cell.terrain, screen.hindrance as value
    from unnest(cells) as cell
    inner join ccp._screens() as screen on screen.terrain = cell.terrain and screen.terrain <> 'blaze'
    where not cell.drawn
    union all
    select cell.i, cell.n, cell.kind, cell.q, cell.r, 'hill', null, null
    from unnest(cells) as cell
    cross join lateral (
      select max(piece.value) as top
      from unnest(pieces) as piece
      where piece.what = 'crest'
        and piece.q = cell.q
        and piece.r = cell.r
    ) as ground
    where case
      when not exists (
        select
        from unnest(met) as crossed
        where crossed.what = 'crest' and crossed.n = cell.n and crossed.q = cell.q and crossed.r = cell.r
      ) then ccp._rises(_line_filling.map_id, cell, ground.top)
    end
  ) as filling
$$;

comment on function ccp._line_filling(bigint, ccp.cell[], ccp.stretch[], ccp.met_artwork[]) is
'What is all over the hexes of one line: terrain that is not drawn, and ground above its floor that no crest line crosses.';

create or replace function ccp._line_marks(state positions.state, cells ccp.cell[])
returns setof ccp.met_artwork
language sql stable parallel safe rows 2
as $$
  select cell.i, cell.n, cell.q, cell.r, mark.kind, null, null::integer, mark.value, cell.kind <> 'touch'
  from unnest(cells) as cell
  inner join (
    select marker.q, marker.r, marker.kind, max(marker.value)::integer as value
    from public.marker
    where marker.position_id = state.position_id
      and marker.kind in ('smoke', 'blaze')
    group by marker.q, marker.r, marker.kind
    union
    select burning.q, burning.r, 'blaze', null
    from unnest(cells) as burning
    where burning.terrain = 'blaze'
  ) as mark on mark.q = cell.q and mark.r = cell.r
$$;

comment on function ccp._line_marks(positions.state, ccp.cell[]) is
'Smoke and blazes in the hexes of one line (16.2.2, 16.3.4).';

-- To start a query costs more than most of them take: what a line cannot meet is not asked for.
create or replace function ccp._line_things(state positions.state, viewer ccp.line_end, line ccp.line)
returns setof ccp.thing
language plpgsql stable parallel safe rows 10
set plan_cache_mode = force_generic_plan
set enable_nestloop = on
set enable_seqscan = off
as $$
declare
  cells ccp.cell[];
  pieces ccp.stretch[];
  met ccp.met_artwork[] := '{}';
  filled boolean;
  high boolean;
  burning boolean;
begin
  select
    array_agg(cell),
    bool_or(not cell.drawn and cell.terrain <> 'open_ground'),
    bool_or(cell.level >= cell.floor),
    bool_or(cell.terrain = 'blaze')
  into cells, filled, high, burning
  from ccp._cells(state.map_id, viewer, line) as cell;
  if cells is null then
    return;
  end if;
  pieces := array(select piece from ccp._pieces(state.map_id, cells) as piece);
  if pieces <> '{}' then
    met := ccp._line_artwork(state.map_id, viewer, line, cells, pieces);
  end if;
  if filled or high or exists (select from unnest(pieces) as piece where piece.what = 'crest') then
    met := met || array(select filling from ccp._line_filling(state.map_id, cells, pieces, met) as filling);
  end if;
  if burning
    or exists (
      select
      from public.marker
      where marker.position_id = state.position_id
        and marker.kind in ('smoke', 'blaze')
    ) then
    met := met || array(select mark from ccp._line_marks(state, cells) as mark);
  end if;
  return query
  select
    cell.i,
    cell.n,
    cell.kind,
    cell.q,
    cell.r,
    cell.label,
    cell.level,
    cell.enter,
    cell.leave,
    cell.den,
    thing.what,
    thing.terrain,
    thing.area,
    thing.value,
    thing.inside
  from unnest(cells) as cell
  left join unnest(met) as thing on thing.n = cell.n and thing.q = cell.q and thing.r = cell.r;
end
$$;

comment on function ccp._line_things(positions.state, ccp.line_end, ccp.line) is
'All that one line meets between its end hexes; as ccp._many_things.';

create or replace function ccp._things(state positions.state, viewer ccp.line_end, lines ccp.line[])
returns setof ccp.thing
language plpgsql stable parallel safe rows 500
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
as $$
begin
  if cardinality(lines) = 1 then
    return query select thing.* from ccp._line_things(state, viewer, lines[1]) as thing;
  else
    return query select thing.* from ccp._many_things(state, viewer, lines) as thing;
  end if;
end
$$;

comment on function ccp._things(positions.state, ccp.line_end, ccp.line[]) is
'All that lines meet between their end hexes, a row a thing.';

create or replace function ccp._obstacles(state positions.state, viewer ccp.line_end, lines ccp.line[])
returns setof ccp.obstacle
language sql stable parallel safe rows 500
as $$
  select
    thing.i,
    thing.n,
    (row_number() over (partition by thing.i, thing.n order by thing.q, thing.r, thing.what, thing.area))::integer,
    thing.kind,
    thing.q,
    thing.r,
    thing.label,
    thing.level,
    thing.enter,
    thing.leave,
    thing.den,
    thing.what,
    thing.terrain,
    thing.area,
    thing.value,
    thing.inside,
    line.high,
    line.low,
    line.barrier,
    bool_or(thing.label is not null) over line_cell,
    positions.side_label(min(thing.label) over line_cell, max(thing.label) over line_cell),
    case
      when line.height < viewer.height then thing.leave = line.last
      when line.height > viewer.height then thing.enter = line.first
      else false
    end,
    bool_or(thing.level = line.low and thing.kind <> 'touch') over (partition by thing.i),
    coalesce(
      case
        when line.height > viewer.height
          then bool_and(thing.level = line.high) over (
            partition by thing.i order by thing.n groups between 1 following and unbounded following
          )
        else bool_and(thing.level = line.high) over (
          partition by thing.i order by thing.n groups between unbounded preceding and 1 preceding
        )
      end,
      true
    )
  from ccp._things(state, viewer, lines) as thing
  inner join unnest(lines) as line on line.i = thing.i
  window line_cell as (partition by thing.i, thing.n)
$$;

comment on function ccp._obstacles(positions.state, ccp.line_end, ccp.line[]) is
'All that lines meet between their end hexes, each with what its judgement asks of the rest of the line.';

create or replace function ccp._way(enter bigint, leave bigint, den bigint)
returns text
language sql stable parallel safe
return case
  when enter = leave then format('at %s/%s of the way', enter / gcd(enter, den), den / gcd(enter, den))
  else format(
    'from %s/%s to %s/%s of the way',
    enter / gcd(enter, den), den / gcd(enter, den), leave / gcd(leave, den), den / gcd(leave, den)
  )
end;

comment on function ccp._way(bigint, bigint, bigint) is
'Where along the line something lies, as exact fractions of its length.';

create or replace function ccp._obstacle_name(obstacle ccp.obstacle)
returns text
language sql stable parallel safe
return format(
  '%s in %s, %s',
  case obstacle.what
    when 'area' then format('%s area %s', replace(obstacle.terrain, '_', ' '), obstacle.area)
    when 'fill' then replace(obstacle.terrain, '_', ' ')
    when 'crest' then format('crest line %s of level %s', obstacle.area, obstacle.value)
    when 'hill' then 'higher ground'
    when 'smoke' then format('smoke of %s', obstacle.value)
    else obstacle.what
  end,
  obstacle.label,
  ccp._way(obstacle.enter, obstacle.leave, obstacle.den)
);

comment on function ccp._obstacle_name(ccp.obstacle) is
'How a ruling names what a line meets: the artwork, its hex, and where along the line that is.';
